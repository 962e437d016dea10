/*
 * Strict reader of a configuration file's lines: sections, keys and comments. Any other line is an
 * error with its number.
 *
 *   # a comment, also with ;        only at the start of a line: values may hold both characters
 *   [kind]  or  [kind name]
 *   key = value
 */
#ifndef FORMATS_TEXT_INI_H
#define FORMATS_TEXT_INI_H

#include "formats/base/error.h"

#include <stddef.h>

#define INI_WORD_BYTES  64u   /* a kind, name or key with its terminator */
#define INI_VALUE_BYTES 8192u /* a value with its terminator */

/* The reader's position; set up with ini_begin. All fields are private. */
struct ini {
    const char *text;
    size_t size;
    size_t offset;
    unsigned line;
};

struct ini_line {
    unsigned number;              /* 1 for the first line */
    char section[INI_WORD_BYTES]; /* the section's kind if a section begins, else empty */
    char name[INI_WORD_BYTES];    /* the section's name; may be empty */
    char key[INI_WORD_BYTES];     /* the key of a key line, else empty */
    char value[INI_VALUE_BYTES];
};

/* Starts at the first line of size bytes at text, which must stay valid. */
void ini_begin(struct ini *ini, const char *text, size_t size);

/*
 * The next line that is neither empty nor a comment. Returns 1 and fills *line; 0 at the end;
 * BT_USAGE for a line that is not a section, key or comment, is too long, or holds control
 * characters (line->number is set, the message does not name it).
 */
int ini_next(struct ini *ini, struct ini_line *line, struct bt_error *error);

#endif
