/*
 * Depths of executed instructions in the data-flow graph of a WET trace: how long the longest chain
 * of dependences is that ends with an instance. Kept are the instances to which registers and
 * control still refer; those that nothing refers to are removed from time to time.
 */
#ifndef TOOLS_WET_WET_DEPTHS_H
#define TOOLS_WET_WET_DEPTHS_H

#include "tools/wet/replay/wet_replay.h"

/* Chains of data dependences, and chains of data and control dependences. */
struct wet_depth {
    uint64_t data, all;
};

struct wet_depths_slot {
    uint64_t instance;
    uint32_t id; /* 0: free */
    struct wet_depth depth;
};

/* Zeroed is empty; private. */
struct wet_depths {
    struct wet_depths_slot *slots, *other; /* other: of the same size, for the next removal */
    size_t size, count;                    /* size: a power of two */
};

void wet_depths_clear(struct wet_depths *depths);

/* Notes the depth of the instance that was executed now, in the replay's step. 0 or BT_MEMORY. */
int wet_depths_put(struct wet_depths *depths, const struct wet_replay *replay,
                   struct wet_instance instance, struct wet_depth depth);

/* The depth of an instance; zeros if it is not kept. */
struct wet_depth wet_depths_get(const struct wet_depths *depths, uint32_t id, uint64_t instance);

static inline void wet_depth_raise(struct wet_depth *depth, const struct wet_depth *other)
{
    depth->data = depth->data > other->data ? depth->data : other->data;
    depth->all = depth->all > other->all ? depth->all : other->all;
}

#endif
