#include "formats/dcfg/id_index.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Ids up to this multiple of their number are dense. */
#define DENSE_FACTOR 4u
#define DENSE_LEAST  4096u

#define DIGIT_BITS 11u
#define DIGITS     (1u << DIGIT_BITS)

static inline uint32_t id_at(const struct id_index *index, uint32_t number)
{
    uint32_t id;
    memcpy(&id, index->ids + index->stride * number, sizeof id);
    return id;
}

static int build_direct(struct id_index *index, uint32_t size, uint32_t *duplicate)
{
    index->numbers = malloc(size * sizeof *index->numbers);
    if (!index->numbers)
        return -1;
    index->direct_size = size;
    memset(index->numbers, 0xff, size * sizeof *index->numbers); /* ID_INDEX_NONE */
    for (uint32_t i = 0; i < index->count; i++) {
        uint32_t *number = &index->numbers[id_at(index, i)];
        if (*number == ID_INDEX_NONE)
            *number = i;
        else if (*duplicate == ID_INDEX_NONE)
            *duplicate = i;
    }
    return 0;
}

/* One pass of a stable radix sort. */
static void sort_by_digit(const struct id_index *index, const uint32_t *from, uint32_t *to,
                          unsigned shift)
{
    uint32_t offsets[DIGITS] = {0};
    for (uint32_t i = 0; i < index->count; i++)
        offsets[id_at(index, i) >> shift & (DIGITS - 1)]++;
    uint32_t sum = 0;
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        uint32_t count = offsets[digit];
        offsets[digit] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < index->count; i++)
        to[offsets[id_at(index, from[i]) >> shift & (DIGITS - 1)]++] = from[i];
}

static int build_sorted(struct id_index *index, uint32_t *duplicate)
{
    uint32_t *numbers = malloc(index->count * sizeof *numbers);
    uint32_t *other = malloc(index->count * sizeof *other);
    if (!numbers || !other) {
        free(numbers);
        free(other);
        return -1;
    }
    for (uint32_t i = 0; i < index->count; i++)
        numbers[i] = i;
    for (unsigned shift = 0; shift < 32; shift += DIGIT_BITS) {
        sort_by_digit(index, numbers, other, shift);
        uint32_t *swap = numbers;
        numbers = other;
        other = swap;
    }
    free(other);
    index->numbers = numbers;
    for (uint32_t i = 1; i < index->count; i++)
        if (id_at(index, numbers[i]) == id_at(index, numbers[i - 1]) && numbers[i] < *duplicate)
            *duplicate = numbers[i];
    return 0;
}

/* Whether the ids are consecutive. */
static bool is_consecutive(const struct id_index *index)
{
    uint32_t first = id_at(index, 0);
    for (uint32_t i = 1; i < index->count; i++)
        if (id_at(index, i) != (uint64_t)first + i)
            return false;
    return true;
}

int id_index_build(struct id_index *index, const uint32_t *ids, size_t stride, uint32_t count,
                   uint32_t *duplicate)
{
    uint32_t largest = 0;
    *index = (struct id_index){.ids = (const char *)ids, .stride = stride, .count = count};
    *duplicate = ID_INDEX_NONE;
    if (count == 0)
        return 0;
    index->first = id_at(index, 0);
    if (is_consecutive(index))
        return 0;
    for (uint32_t i = 0; i < count; i++)
        if (id_at(index, i) > largest)
            largest = id_at(index, i);
    if (largest < (uint64_t)count * DENSE_FACTOR + DENSE_LEAST && largest < ID_INDEX_NONE)
        return build_direct(index, largest + 1, duplicate);
    return build_sorted(index, duplicate);
}

void id_index_clear(struct id_index *index)
{
    free(index->numbers);
    *index = (struct id_index){0};
}

uint32_t id_index_find(const struct id_index *index, uint32_t id)
{
    if (!index->numbers)
        return id - index->first < index->count ? id - index->first : ID_INDEX_NONE;
    if (index->direct_size > 0)
        return id < index->direct_size ? index->numbers[id] : ID_INDEX_NONE;
    uint32_t low = 0;
    uint32_t high = index->count;
    while (low < high) { /* the first that is not less */
        uint32_t middle = low + (high - low) / 2;
        if (id_at(index, index->numbers[middle]) < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < index->count && id_at(index, index->numbers[low]) == id ? index->numbers[low]
                                                                         : ID_INDEX_NONE;
}

size_t id_index_bytes(const struct id_index *index)
{
    size_t count = index->direct_size > 0 ? index->direct_size : index->count;
    return index->numbers ? count * sizeof *index->numbers : 0;
}
