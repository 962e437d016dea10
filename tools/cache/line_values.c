#include "tools/cache/line_values.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 64u

static size_t home_of(const struct line_values *map, uint64_t key)
{
    return (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & (map->capacity - 1);
}

/* The slot of a key, or the empty slot where it would be inserted. */
static size_t slot_of(const struct line_values *map, uint64_t key)
{
    size_t slot = home_of(map, key);
    while (map->keys[slot] != 0 && map->keys[slot] != key)
        slot = (slot + 1) & (map->capacity - 1);
    return slot;
}

void *line_values_find(const struct line_values *map, uint32_t address)
{
    if (map->count == 0)
        return NULL;
    size_t slot = slot_of(map, (uint64_t)address + 1);
    return map->keys[slot] ? map->values + slot * map->value_bytes : NULL;
}

static int grow(struct line_values *map)
{
    struct line_values larger = *map;
    larger.capacity = map->capacity ? 2 * map->capacity : CAPACITY_MIN;
    larger.keys = calloc(larger.capacity, sizeof *larger.keys);
    larger.values = calloc(larger.capacity, map->value_bytes);
    if (!larger.keys || !larger.values) {
        free(larger.keys);
        free(larger.values);
        return -1;
    }
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->keys[i] == 0)
            continue;
        size_t slot = slot_of(&larger, map->keys[i]);
        larger.keys[slot] = map->keys[i];
        memcpy(larger.values + slot * map->value_bytes, map->values + i * map->value_bytes,
               map->value_bytes);
    }
    free(map->keys);
    free(map->values);
    *map = larger;
    return 0;
}

void *line_values_add(struct line_values *map, uint32_t address)
{
    if (2 * (map->count + 1) > map->capacity && grow(map) < 0)
        return NULL;
    size_t slot = slot_of(map, (uint64_t)address + 1);
    if (map->keys[slot] == 0) {
        map->keys[slot] = (uint64_t)address + 1;
        memset(map->values + slot * map->value_bytes, 0, map->value_bytes);
        map->count++;
    }
    return map->values + slot * map->value_bytes;
}

void line_values_remove(struct line_values *map, uint32_t address)
{
    if (map->count == 0)
        return;
    size_t hole = slot_of(map, (uint64_t)address + 1);
    if (map->keys[hole] == 0)
        return;
    map->count--;
    /* move later entries of the probe sequence into the hole, so that they stay reachable */
    for (size_t slot = (hole + 1) & (map->capacity - 1); map->keys[slot] != 0;
         slot = (slot + 1) & (map->capacity - 1)) {
        size_t home = home_of(map, map->keys[slot]);
        if (((slot - home) & (map->capacity - 1)) < ((slot - hole) & (map->capacity - 1)))
            continue;
        map->keys[hole] = map->keys[slot];
        memcpy(map->values + hole * map->value_bytes, map->values + slot * map->value_bytes,
               map->value_bytes);
        hole = slot;
    }
    map->keys[hole] = 0;
}

void line_values_clear(struct line_values *map)
{
    free(map->keys);
    free(map->values);
    *map = (struct line_values){.value_bytes = map->value_bytes};
}
