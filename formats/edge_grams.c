#include "formats/edge_grams.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LAST_BITS    18u
#define EARLIER_BITS 18u

struct edge_grams {
    uint32_t last[1u << LAST_BITS];      /* by hash: 1 + where a string was seen last; 0: nowhere */
    uint8_t earlier[1u << EARLIER_BITS]; /* by hash: other bits of it, for what was there twice */
};

struct edge_grams *edge_grams_new(void)
{
    return calloc(1, sizeof(struct edge_grams));
}

void edge_grams_free(struct edge_grams *grams)
{
    free(grams);
}

void edge_grams_begin(struct edge_grams *grams)
{
    memset(grams->last, 0, sizeof grams->last);
}

/* Links the symbols of the string that begins at first. */
static void link_string(uint32_t *symbols, size_t first)
{
    for (unsigned k = 0; k + 1 < EDGE_GRAM; k++)
        symbols[first + k] |= EDGE_LINKED;
}

void edge_grams_link(struct edge_grams *grams, const uint8_t *values, uint32_t *symbols,
                     size_t begin, size_t end)
{
    const uint64_t mask = ((uint64_t)1 << 6 * EDGE_GRAM) - 1;
    uint64_t gram = 0;
    for (size_t i = begin; i < end; i++) {
        symbols[i] = values[i];
        gram = (gram << 6 | values[i]) & mask;
        if (i - begin + 1 < EDGE_GRAM)
            continue;
        uint64_t hash = gram * 0x9e3779b97f4a7c15u;
        size_t first = i + 1 - EDGE_GRAM;
        uint32_t *last = &grams->last[hash >> (64 - LAST_BITS)];
        uint8_t *earlier = &grams->earlier[hash >> 20 & ((1u << EARLIER_BITS) - 1)];
        uint8_t other = (uint8_t)(hash >> 38) | 1;
        bool seen = *last != 0 && memcmp(values + *last - 1, values + first, EDGE_GRAM) == 0;
        if (seen) {
            link_string(symbols, *last - 1);
            *earlier = other;
        }
        if (seen || *earlier == other)
            link_string(symbols, first);
        *last = (uint32_t)first + 1;
    }
}
