/*
 * A hash table from line numbers to values, eight bytes an entry, with linear probing. Entries are
 * in the order of their hashes, so that the table grows in place. Probing begins with a group of
 * eight entries, which are compared together; nearly every line is in its first group.
 *
 * Callers that look up many lines at once make the keys first and prefetch them.
 *
 * A formats/base/hash_index instead is 10 to 24 % faster, but takes 48 % more memory, and memory is
 * the limit of a study.
 */
#ifndef TOOLS_MRC_LINE_TABLE_H
#define TOOLS_MRC_LINE_TABLE_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define LINE_TABLE_GROUP 8u

struct line_table {
    uint64_t *entries; /* key << 32 | value; 0: empty */
    size_t capacity;
    size_t used;
    size_t limit;  /* number of entries at which the table grows */
    uint32_t seed; /* random, so that no trace can be made whose lines all collide */
};

/* Makes a small table. 0 or BT_MEMORY. */
int line_table_init(struct line_table *map, struct bt_error *error);
void line_table_free(struct line_table *map);

/* Memory of the table, in bytes. */
size_t line_table_bytes(const struct line_table *map);

/* Grows the table for `more` new lines. 0 or BT_MEMORY. */
int line_table_grow(struct line_table *map, size_t more, struct bt_error *error);

/* Grows the table only if necessary. */
static inline int line_table_reserve(struct line_table *map, size_t more, struct bt_error *error)
{
    return map->limit - map->used >= more ? 0 : line_table_grow(map, more, error);
}

/* The key of a line; a bijection. */
static inline uint32_t line_table_key(const struct line_table *map, uint32_t line)
{
    uint32_t key = (line ^ map->seed) * 0x9e3779b1u;
    key = (key ^ key >> 15) * 0x85ebca77u;
    return key ^ key >> 16;
}

/* The first slot of the group that a key's entry belongs to. */
static inline size_t line_table_home(const struct line_table *table, uint32_t key)
{
    const size_t group = (size_t)((uint64_t)key * (table->capacity / LINE_TABLE_GROUP) >> 32);
    return group * LINE_TABLE_GROUP;
}

static inline void line_table_prefetch(const struct line_table *map, uint32_t key)
{
    __builtin_prefetch(&map->entries[line_table_home(map, key)], 1);
}

/* The index within the group of a key's entry, or of the empty slot where it would be;
 * LINE_TABLE_GROUP if the group has neither. */
static inline size_t line_table_find_in_group(const uint64_t *group, uint32_t key)
{
#ifdef __SSE2__
    const __m128i wanted = _mm_set1_epi32((int)key);
    __m128 pairs[4];
    for (int i = 0; i < 4; i++)
        pairs[i] = _mm_loadu_ps((const float *)(const void *)(group + 2 * i));
    const __m128i low = _mm_castps_si128(_mm_shuffle_ps(pairs[0], pairs[1], 0xdd));
    const __m128i high = _mm_castps_si128(_mm_shuffle_ps(pairs[2], pairs[3], 0xdd));
    const __m128i same =
        _mm_packs_epi32(_mm_cmpeq_epi32(low, wanted), _mm_cmpeq_epi32(high, wanted));
    const unsigned mask = (unsigned)_mm_movemask_epi8(same) | 1u << 2 * LINE_TABLE_GROUP;
    return (size_t)__builtin_ctz(mask) / 2;
#else
    (void)group, (void)key;
    return LINE_TABLE_GROUP;
#endif
}

/* Sets a key's value (not 0) and returns the previous one, 0 if the key is new. The table must have
 * room for one more. */
static inline uint32_t line_table_exchange(struct line_table *table, uint32_t key, uint32_t value)
{
    const size_t home = line_table_home(table, key);
    const size_t found = line_table_find_in_group(&table->entries[home], key);
    size_t place = home + (found < LINE_TABLE_GROUP ? found : 0);
    uint64_t entry = table->entries[place];
    if (__builtin_expect(found >= LINE_TABLE_GROUP, 0)) {
        while (entry != 0 && (uint32_t)(entry >> 32) != key) {
            place = place + 1 == table->capacity ? 0 : place + 1;
            entry = table->entries[place];
        }
    }
    table->entries[place] = (uint64_t)key << 32 | value;
    table->used += entry == 0;
    return (uint32_t)entry;
}

#endif
