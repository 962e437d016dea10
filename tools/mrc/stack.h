/*
 * Exact LRU stack distances: for each reference, the number of distinct other lines referenced
 * since the last reference to its line. A fully associative LRU cache of C lines hits if the
 * distance is less than C, so that one pass covers all sizes. Memory: 16 to 24 bytes for each
 * distinct line.
 */
#ifndef TOOLS_MRC_STACK_H
#define TOOLS_MRC_STACK_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct stack;

/* distance of the first reference to a line */
#define STACK_COLD UINT32_MAX

/* NULL and *error without memory. */
struct stack *stack_new(struct bt_error *error);
void stack_free(struct stack *stack);

/* References lines[0] to lines[count - 1] in turn and stores the distance of each. 0 or BT_MEMORY,
 * after which the stack is unusable. */
int stack_run(struct stack *stack, const uint32_t *lines, size_t count, uint32_t *distances,
              struct bt_error *error);

#endif
