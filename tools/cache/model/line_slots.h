/* A map from numbers of lines to slots, for many insertions and removals: a hash table of eight
 * bytes an entry, with linear probing. */
#ifndef TOOLS_CACHE_MODEL_LINE_SLOTS_H
#define TOOLS_CACHE_MODEL_LINE_SLOTS_H

#include <stddef.h>
#include <stdint.h>

/* Must be zeroed before first use; private. */
struct line_slots {
    uint64_t *entries; /* line << 32 | slot + 1; 0: empty */
    size_t capacity;   /* a power of two, or 0 */
    size_t count;
};

/* Reserves an entry for one more line. 0, or -1 without memory. */
int line_slots_reserve(struct line_slots *map);

/* 1 + the slot of a line; 0: it has none. */
uint32_t line_slots_find(const struct line_slots *map, uint32_t line);

/* Sets the slot of a line to slot, below 2^32 - 1, and returns what line_slots_find returned
 * before. The line has an entry, or one is reserved. */
uint32_t line_slots_set(struct line_slots *map, uint32_t line, uint32_t slot);

/* Removes a line, if it is present. */
void line_slots_remove(struct line_slots *map, uint32_t line);

/* Frees the contents. */
void line_slots_clear(struct line_slots *map);

#endif
