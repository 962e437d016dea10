#include "tools/wet/wet_depths.h"

#include "formats/base/hash_index.h"

#include <string.h>

#define SLOTS_MIN ((size_t)1 << 14)

void wet_depths_clear(struct wet_depths *depths)
{
    free(depths->slots);
    free(depths->other);
    *depths = (struct wet_depths){.slots = NULL};
}

/* The slot of an instance, or the free one where it belongs. */
static struct wet_depths_slot *find(struct wet_depths_slot *slots, size_t size, uint32_t id,
                                    uint64_t instance)
{
    size_t at = hash_pair(instance, id) & (size - 1);
    while (slots[at].id && (slots[at].id != id || slots[at].instance != instance))
        at = (at + 1) & (size - 1);
    return &slots[at];
}

/* A removal: what is referred to moves to `other`. */
struct removal {
    struct wet_depths *depths;
    size_t kept;
};

static void keep(void *context, struct wet_instance instance)
{
    struct removal *removal = context;
    struct wet_depths *depths = removal->depths;
    const struct wet_depths_slot *from =
        find(depths->slots, depths->size, instance.id, instance.instance);
    struct wet_depths_slot *to = find(depths->other, depths->size, instance.id, instance.instance);
    if (from->id && !to->id) {
        *to = *from;
        removal->kept++;
    }
}

/* Moves all to tables of another size. 0 or BT_MEMORY. */
static int resize(struct wet_depths *depths, size_t size)
{
    struct wet_depths larger = {.slots = calloc(size, sizeof *larger.slots),
                                .other = calloc(size, sizeof *larger.other),
                                .size = size,
                                .count = depths->count};
    if (!larger.slots || !larger.other) {
        wet_depths_clear(&larger);
        return BT_MEMORY;
    }
    for (size_t i = 0; i < depths->size; i++)
        if (depths->slots[i].id)
            *find(larger.slots, size, depths->slots[i].id, depths->slots[i].instance) =
                depths->slots[i];
    wet_depths_clear(depths);
    *depths = larger;
    return 0;
}

/* Removes what nothing refers to. More slots are made if that is little. */
static int make_room(struct wet_depths *depths, const struct wet_replay *replay)
{
    struct removal removal = {.depths = depths};
    if (!depths->slots)
        return resize(depths, SLOTS_MIN);
    memset(depths->other, 0, depths->size * sizeof *depths->other);
    wet_replay_live(replay, keep, &removal);
    struct wet_depths_slot *old = depths->slots;
    depths->slots = depths->other;
    depths->other = old;
    depths->count = removal.kept;
    return depths->count > depths->size / 4 ? resize(depths, 2 * depths->size) : 0;
}

int wet_depths_put(struct wet_depths *depths, const struct wet_replay *replay,
                   struct wet_instance instance, struct wet_depth depth)
{
    if (depths->count >= depths->size / 2 && make_room(depths, replay) < 0)
        return BT_MEMORY;
    struct wet_depths_slot *slot =
        find(depths->slots, depths->size, instance.id, instance.instance);
    depths->count += slot->id == 0;
    *slot =
        (struct wet_depths_slot){.instance = instance.instance, .id = instance.id, .depth = depth};
    return 0;
}

struct wet_depth wet_depths_get(const struct wet_depths *depths, uint32_t id, uint64_t instance)
{
    if (!depths->slots)
        return (struct wet_depth){.data = 0};
    return find(depths->slots, depths->size, id, instance)->depth;
}
