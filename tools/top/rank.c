#define _GNU_SOURCE /* qsort_r */
#include "tools/top/rank.h"

#include <stdlib.h>

static void swap(uint32_t *one, uint32_t *other)
{
    const uint32_t kept = *one;
    *one = *other;
    *other = kept;
}

/* Partitions by the median of three of its numbers. Returns the final place of that one. */
static uint64_t partition(uint32_t *numbers, uint64_t low, uint64_t high, rank_order *order,
                          const void *context)
{
    const uint64_t middle = low + (high - low) / 2;
    uint64_t place = low;
    if (order(context, numbers[middle], numbers[low]) < 0)
        swap(&numbers[middle], &numbers[low]);
    if (order(context, numbers[high], numbers[low]) < 0)
        swap(&numbers[high], &numbers[low]);
    if (order(context, numbers[high], numbers[middle]) < 0)
        swap(&numbers[high], &numbers[middle]);
    swap(&numbers[middle], &numbers[high]); /* the median is the last one now */
    for (uint64_t i = low; i < high; i++)
        if (order(context, numbers[i], numbers[high]) < 0)
            swap(&numbers[place++], &numbers[i]);
    swap(&numbers[place], &numbers[high]);
    return place;
}

/* For qsort_r. */
struct sorting {
    rank_order *order;
    const void *context;
};

static int compare(const void *one, const void *other, void *argument)
{
    const struct sorting *sorting = argument;
    return sorting->order(sorting->context, *(const uint32_t *)one, *(const uint32_t *)other);
}

void rank_sort(uint32_t *numbers, uint64_t count, rank_order *order, const void *context)
{
    struct sorting sorting = {order, context};
    if (count > 1)
        qsort_r(numbers, count, sizeof *numbers, compare, &sorting);
}

void rank_select(uint32_t *numbers, uint64_t count, uint64_t first, rank_order *order,
                 const void *context)
{
    uint64_t low = 0, high = count - 1;
    unsigned tries = 0;
    if (first >= count)
        return;
    while (low < high) {
        if (++tries > 64) { /* numbers made to be slow to partition */
            rank_sort(numbers + low, high - low + 1, order, context);
            return;
        }
        const uint64_t place = partition(numbers, low, high, order, context);
        if (place == first)
            return;
        if (place < first)
            low = place + 1;
        else
            high = place - 1;
    }
}
