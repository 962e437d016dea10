/*
 * Exact LRU stack distances: for each reference, how many other lines were referenced since its
 * line was before. A fully associative LRU cache of C lines hits where that is less than C, so that
 * one pass tells of every size at once. Memory: 16 to 24 bytes a distinct line.
 */
#ifndef TOOLS_MRC_STACK_H
#define TOOLS_MRC_STACK_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct stack;

/* The distance of a line that was not referenced before. */
#define STACK_COLD UINT32_MAX

/* NULL and *error without memory. */
struct stack *stack_new(struct bt_error *error);
void stack_free(struct stack *stack);

/* References lines[0] to lines[count - 1], one after the other, and tells the distance of each. 0
 * or BT_MEMORY: the stack is then good for nothing more. */
int stack_run(struct stack *stack, const uint32_t *lines, size_t count, uint32_t *distances,
              struct bt_error *error);

/* Distinct lines so far. */
uint32_t stack_lines(const struct stack *stack);

/* Bytes that the stack takes. */
size_t stack_bytes(const struct stack *stack);

#endif
