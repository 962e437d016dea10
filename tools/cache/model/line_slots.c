#include "tools/cache/model/line_slots.h"

#include "formats/base/hash_index.h"

#include <stdlib.h>

#define CAPACITY_MIN 64u

/* Where the search for a line begins. */
static size_t home_of(const struct line_slots *map, uint32_t line)
{
    return hash_number(line) & (map->capacity - 1);
}

/* The line's place, or the empty one where it would be. */
static size_t place_of(const struct line_slots *map, uint32_t line)
{
    size_t place = home_of(map, line);
    while (map->entries[place] != 0 && (uint32_t)(map->entries[place] >> 32) != line)
        place = (place + 1) & (map->capacity - 1);
    return place;
}

int line_slots_reserve(struct line_slots *map)
{
    if (map->count < map->capacity / 2)
        return 0;
    struct line_slots grown = {.capacity = map->capacity ? 2 * map->capacity : CAPACITY_MIN,
                               .count = map->count};
    grown.entries = calloc(grown.capacity, sizeof *grown.entries);
    if (!grown.entries)
        return -1;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i])
            grown.entries[place_of(&grown, (uint32_t)(map->entries[i] >> 32))] = map->entries[i];
    free(map->entries);
    *map = grown;
    return 0;
}

uint32_t line_slots_find(const struct line_slots *map, uint32_t line)
{
    return map->capacity ? (uint32_t)map->entries[place_of(map, line)] : 0;
}

uint32_t line_slots_set(struct line_slots *map, uint32_t line, uint32_t slot)
{
    uint64_t *entry = &map->entries[place_of(map, line)];
    const uint32_t before = (uint32_t)*entry;
    map->count += before == 0;
    *entry = (uint64_t)line << 32 | (slot + 1);
    return before;
}

void line_slots_remove(struct line_slots *map, uint32_t line)
{
    if (map->capacity == 0)
        return;
    size_t hole = place_of(map, line);
    if (map->entries[hole] == 0)
        return;
    map->count--;
    /* later entries move up, unless their search begins after the hole */
    for (size_t next = hole;;) {
        next = (next + 1) & (map->capacity - 1);
        const uint64_t entry = map->entries[next];
        if (entry == 0)
            break;
        const size_t home = home_of(map, (uint32_t)(entry >> 32));
        if (((next - home) & (map->capacity - 1)) >= ((next - hole) & (map->capacity - 1))) {
            map->entries[hole] = entry;
            hole = next;
        }
    }
    map->entries[hole] = 0;
}

void line_slots_clear(struct line_slots *map)
{
    free(map->entries);
    *map = (struct line_slots){.count = 0};
}
