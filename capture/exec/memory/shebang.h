/* Parses the #! line of scripts as Linux does (execve(2)). */
#ifndef CAPTURE_EXEC_MEMORY_SHEBANG_H
#define CAPTURE_EXEC_MEMORY_SHEBANG_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHEBANG_HEAD_BYTES 256 /* bytes that the kernel reads */
#define SHEBANG_DEPTH_MAX  5   /* nested script interpreters */

struct NAMED_FIELDS shebang {
    char interpreter[SHEBANG_HEAD_BYTES]; /* "": the line names none, or its name is truncated */
    char argument[SHEBANG_HEAD_BYTES];    /* rest of the line, with spaces; "": none */
};

/* Whether a file that begins with these bytes (SHEBANG_HEAD_BYTES, or the whole file if it is
 * shorter) is a script; if so, fills in *script. */
bool shebang_parse(struct shebang *script, const uint8_t *bytes, size_t size);

#endif
