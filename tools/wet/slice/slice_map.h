/*
 * A map from instances of instructions to what is known about each: its distance from the
 * criterion, and the next step on the way there.
 */
#ifndef TOOLS_WET_SLICE_SLICE_MAP_H
#define TOOLS_WET_SLICE_SLICE_MAP_H

#include "formats/base/hash_index.h"
#include "tools/wet/replay/wet_calls.h"

/* What a dependence is about. */
enum slice_kind {
    SLICE_CRITERION, /* no dependence: here the slice begins */
    SLICE_CONTROL,
    SLICE_REGISTER,
    SLICE_MEMORY
};

struct slice_link {
    struct wet_instance instance; /* key */
    uint32_t distance;            /* number of dependences to the criterion */
    uint8_t kind;                 /* enum slice_kind: of the first dependence */
    uint8_t reg;                  /* SLICE_REGISTER: WET_GENERAL and so on */
    struct wet_instance next;     /* which that is between the instance and this one; id 0: the
                                     criterion is no instance */
};

/* Zeroed is empty. */
struct slice_map {
    struct hash_index index;
    struct slice_link *links;
    size_t count, capacity;
};

void slice_map_clear(struct slice_map *map);

/* NULL: it is missing. Valid until something is added. */
struct slice_link *slice_map_find(const struct slice_map *map, struct wet_instance instance);

/* Adds a link, or replaces that of the same instance if the new one is shorter. 0 or BT_MEMORY. */
int slice_map_put(struct slice_map *map, const struct slice_link *link);

#endif
