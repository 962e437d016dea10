#include "tests/support/slow_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *slow_memory(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory) {
        perror("slow_memory");
        abort();
    }
    return memory;
}

/* Index of the key, or where to insert it. */
static size_t place(const struct slow_map *map, uint64_t key)
{
    size_t low = 0;
    for (size_t high = map->count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (map->keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void *slow_map_find(const struct slow_map *map, uint64_t key)
{
    size_t at = place(map, key);
    return at < map->count && map->keys[at] == key ? map->values + at * map->value_bytes : NULL;
}

static void grow(struct slow_map *map)
{
    size_t room = map->room ? map->room * 2 : 16;
    uint64_t *keys = slow_memory(room, sizeof *keys);
    unsigned char *values = slow_memory(room, map->value_bytes);
    if (map->count > 0) {
        memcpy(keys, map->keys, map->count * sizeof *keys);
        memcpy(values, map->values, map->count * map->value_bytes);
    }
    free(map->keys);
    free(map->values);
    map->keys = keys;
    map->values = values;
    map->room = room;
}

void *slow_map_at(struct slow_map *map, uint64_t key)
{
    void *found = slow_map_find(map, key);
    if (found)
        return found;
    if (map->count == map->room)
        grow(map);
    size_t at = place(map, key);
    unsigned char *value = map->values + at * map->value_bytes;
    memmove(map->keys + at + 1, map->keys + at, (map->count - at) * sizeof *map->keys);
    memmove(value + map->value_bytes, value, (map->count - at) * map->value_bytes);
    map->keys[at] = key;
    memset(value, 0, map->value_bytes);
    map->count++;
    return value;
}

void slow_map_clear(struct slow_map *map)
{
    free(map->keys);
    free(map->values);
    map->keys = NULL;
    map->values = NULL;
    map->count = map->room = 0;
}
