/* For each line, the number of its last reference: a time or a window. */
#ifndef TOOLS_MRC_LAST_USES_H
#define TOOLS_MRC_LAST_USES_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct last_uses;

#define LAST_USES_NONE UINT64_MAX /* the first reference to a line */

/* NULL and *error without memory. */
struct last_uses *last_uses_new(struct bt_error *error);
void last_uses_free(struct last_uses *uses);

/* Stores a number for each line in turn; before[] becomes the previous ones. 0 or BT_MEMORY. */
int last_uses_run(struct last_uses *uses, const uint32_t *lines, const uint64_t *numbers,
                  size_t count, uint64_t *before, struct bt_error *error);

#endif
