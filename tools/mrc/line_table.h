/*
 * A map from line numbers to values, eight bytes an entry: a hash table with linear probing whose
 * entries stand in the order of their hashes, so that it grows in place. For the stacks, which look
 * up many lines at a time: keys are made first, and prefetched.
 */
#ifndef TOOLS_MRC_LINE_TABLE_H
#define TOOLS_MRC_LINE_TABLE_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_table {
    uint64_t *entries; /* key << 32 | value; 0: empty */
    size_t capacity;
    size_t used;
    size_t limit;  /* used may come to this before it grows */
    uint32_t seed; /* so that nobody can make a trace whose lines all meet in one place */
};

/* Begins with room for few lines. 0 or BT_MEMORY. */
int line_table_init(struct line_table *map, struct bt_error *error);
void line_table_free(struct line_table *map);

/* Bytes that the table takes. */
size_t line_table_bytes(const struct line_table *map);

/* Makes room for more lines, whatever they are. 0 or BT_MEMORY. */
int line_table_grow(struct line_table *map, size_t more, struct bt_error *error);

/* The same, where there may be room already. */
static inline int line_table_reserve(struct line_table *map, size_t more, struct bt_error *error)
{
    return map->limit - map->used >= more ? 0 : line_table_grow(map, more, error);
}

/* The key of a line: no two lines have the same. */
static inline uint32_t line_table_key(const struct line_table *map, uint32_t line)
{
    uint32_t key = (line ^ map->seed) * 0x9e3779b1u;
    key = (key ^ key >> 15) * 0x85ebca77u;
    return key ^ key >> 16;
}

/* Where a key's entry would best be. */
static inline size_t line_table_home(const struct line_table *map, uint32_t key)
{
    return (size_t)((uint64_t)key * map->capacity >> 32);
}

static inline void line_table_prefetch(const struct line_table *map, uint32_t key)
{
    __builtin_prefetch(&map->entries[line_table_home(map, key)], 1);
}

/* Sets a key's value (not 0) and returns the one before, 0 where it had none. There must be room
 * for one more. */
static inline uint32_t line_table_exchange(struct line_table *map, uint32_t key, uint32_t value)
{
    size_t place = line_table_home(map, key);
    uint64_t entry = map->entries[place];
    while (entry != 0 && (uint32_t)(entry >> 32) != key) {
        place = place + 1 == map->capacity ? 0 : place + 1;
        entry = map->entries[place];
    }
    map->entries[place] = (uint64_t)key << 32 | value;
    map->used += entry == 0;
    return (uint32_t)entry;
}

#endif
