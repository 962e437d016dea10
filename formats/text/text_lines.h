/* Text by lines, in bounded memory. Lines may hold any octets. */
#ifndef FORMATS_TEXT_TEXT_LINES_H
#define FORMATS_TEXT_TEXT_LINES_H

#include "formats/text/text_reader.h"

#include <stdbool.h>

struct text_lines;

struct text_line {
    const char *text; /* without the newline; a NUL follows it */
    size_t size;      /* in bytes */
    uint64_t number;  /* from 1 */
    bool is_cut;      /* longer than the maximum: the rest was skipped */
    bool has_newline; /* false: the text ends within this line */
};

/* Reads from reader, which the caller owns and must keep; longest: maximum size of a line in bytes.
 * NULL and *error without memory. */
struct text_lines *text_lines_new(struct text_reader *reader, size_t longest,
                                  struct bt_error *error);
void text_lines_free(struct text_lines *lines);

/* 1 and the next line, which is valid until the next call; 0 at the end; or an error of
 * text_reader_read(). */
int text_lines_next(struct text_lines *lines, struct text_line *line, struct bt_error *error);

#endif
