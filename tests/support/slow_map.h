/* A map from numbers to values, as a sorted array: obvious, and fast enough. */
#ifndef TESTS_SUPPORT_SLOW_MAP_H
#define TESTS_SUPPORT_SLOW_MAP_H

#include <stddef.h>
#include <stdint.h>

struct slow_map {
    uint64_t *keys;
    unsigned char *values; /* value_bytes each */
    size_t value_bytes;
    size_t count;
    size_t room;
};

/* The value of a key; NULL if it is missing. Valid until the next slow_map_at. */
void *slow_map_find(const struct slow_map *map, uint64_t key);
/* The same, but inserts a missing value, zeroed. */
void *slow_map_at(struct slow_map *map, uint64_t key);
void slow_map_clear(struct slow_map *map);

/* Zeroed memory. Ends the program if memory is short. */
void *slow_memory(size_t count, size_t size);

#endif
