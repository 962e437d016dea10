/* The first ones of many numbers, in an order of the caller. */
#ifndef TOOLS_TOP_RANK_H
#define TOOLS_TOP_RANK_H

#include <stddef.h>
#include <stdint.h>

/* Whether one number is before another: below 0, 0, above 0. No two numbers are equal. */
typedef int rank_order(const void *context, uint32_t one, uint32_t other);

/* Moves the `first` first ones of count numbers to the front, in any order, and the next one, if
 * there is one, behind them. */
void rank_select(uint32_t *numbers, uint64_t count, uint64_t first, rank_order *order,
                 const void *context);

/* Sorts. */
void rank_sort(uint32_t *numbers, uint64_t count, rank_order *order, const void *context);

#endif
