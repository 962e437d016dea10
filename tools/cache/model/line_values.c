#include "tools/cache/model/line_values.h"

#include "formats/base/grow.h"

#include <string.h>

#define NONE UINT32_MAX

static uint32_t find(const struct line_values *map, uint32_t hash, uint32_t address)
{
    struct hash_search search = hash_search(&map->by_address, hash);
    while (hash_search_next(&search))
        if (map->addresses[search.number] == address)
            return search.number;
    return NONE;
}

void *line_values_find(const struct line_values *map, uint32_t address)
{
    const uint32_t number = find(map, hash_number(address), address);
    return number == NONE ? NULL : map->values + number * map->value_bytes;
}

void *line_values_add(struct line_values *map, uint32_t address)
{
    const uint32_t hash = hash_number(address);
    const uint32_t number = find(map, hash, address);
    if (number != NONE)
        return map->values + number * map->value_bytes;
    uint32_t *addresses =
        grow_array(map->addresses, &map->address_capacity, map->count + 1, sizeof *addresses);
    if (addresses)
        map->addresses = addresses;
    unsigned char *values =
        grow_array(map->values, &map->value_capacity, map->count + 1, map->value_bytes);
    if (values)
        map->values = values;
    if (!addresses || !values || hash_index_add(&map->by_address, hash, (uint32_t)map->count) != 0)
        return NULL;
    addresses[map->count] = address;
    return memset(values + map->count++ * map->value_bytes, 0, map->value_bytes);
}

void line_values_remove(struct line_values *map, uint32_t address)
{
    const uint32_t hash = hash_number(address);
    const uint32_t number = find(map, hash, address);
    if (number == NONE)
        return;
    hash_index_remove(&map->by_address, hash, number);
    const uint32_t last = (uint32_t)--map->count;
    if (number == last)
        return;
    hash_index_renumber(&map->by_address, hash_number(map->addresses[last]), last, number);
    map->addresses[number] = map->addresses[last];
    memcpy(map->values + number * map->value_bytes, map->values + last * map->value_bytes,
           map->value_bytes);
}

void line_values_clear(struct line_values *map)
{
    free(map->addresses);
    free(map->values);
    hash_index_clear(&map->by_address);
    *map = (struct line_values){.value_bytes = map->value_bytes};
}
