#include "tools/wet/slice/slice_map.h"

#include "formats/base/grow.h"

void slice_map_clear(struct slice_map *map)
{
    hash_index_clear(&map->index);
    free(map->links);
    *map = (struct slice_map){.links = NULL};
}

struct slice_link *slice_map_find(const struct slice_map *map, struct wet_instance instance)
{
    struct hash_search search = hash_search(&map->index, hash_pair(instance.id, instance.instance));
    while (hash_search_next(&search)) {
        struct slice_link *link = &map->links[search.number];
        if (link->instance.id == instance.id && link->instance.instance == instance.instance)
            return link;
    }
    return NULL;
}

int slice_map_put(struct slice_map *map, const struct slice_link *link)
{
    struct slice_link *found = slice_map_find(map, link->instance);
    if (found) {
        if (link->distance < found->distance)
            *found = *link;
        return 0;
    }
    struct slice_link *larger =
        grow_array(map->links, &map->capacity, map->count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    map->links = larger;
    if (map->count >= HASH_INDEX_NUMBER_MAX ||
        hash_index_add(&map->index, hash_pair(link->instance.id, link->instance.instance),
                       (uint32_t)map->count) < 0)
        return BT_MEMORY;
    larger[map->count++] = *link;
    return 0;
}
