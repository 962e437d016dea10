/* Scripts that begin with #!: who runs them, as Linux reads it (execve(2)). */
#ifndef CAPTURE_EXEC_MEMORY_SHEBANG_H
#define CAPTURE_EXEC_MEMORY_SHEBANG_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHEBANG_HEAD_BYTES 256 /* what the kernel looks at */
#define SHEBANG_DEPTH_MAX  5   /* scripts that are run by scripts */

struct NAMED_FIELDS shebang {
    char interpreter[SHEBANG_HEAD_BYTES]; /* "": the line names none, or its name is cut off */
    char argument[SHEBANG_HEAD_BYTES];    /* all after it, spaces included; "": none */
};

/* Whether a file that begins with these octets (SHEBANG_HEAD_BYTES, or all if it is shorter) is a
 * script; if so, *script says by whom it is run. */
bool shebang_parse(struct shebang *script, const uint8_t *bytes, size_t size);

#endif
