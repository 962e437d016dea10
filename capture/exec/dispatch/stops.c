#include "capture/exec/dispatch/stops.h"

#include <stdlib.h>

#define CAPACITY_MIN 16u
#define GOLDEN       UINT64_C(0x9e3779b97f4a7c15)

/* Where an address is, or would be. */
static size_t slot_of(const struct stops *stops, uint64_t address)
{
    size_t slot = (size_t)(address * GOLDEN >> 32) & (stops->capacity - 1);
    while (stops->slots[slot] != 0 && stops->slots[slot] != address)
        slot = (slot + 1) & (stops->capacity - 1);
    return slot;
}

static bool grow(struct stops *stops)
{
    struct stops larger = {.capacity = stops->capacity ? 2 * stops->capacity : CAPACITY_MIN};
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < stops->capacity; i++)
        if (stops->slots[i] != 0)
            larger.slots[slot_of(&larger, stops->slots[i])] = stops->slots[i];
    larger.count = stops->count;
    free(stops->slots);
    *stops = larger;
    return true;
}

bool stops_has(const struct stops *stops, uint64_t address)
{
    return stops->count > 0 && stops->slots[slot_of(stops, address)] == address;
}

bool stops_add(struct stops *stops, uint64_t address)
{
    if (stops_has(stops, address) || (2 * (stops->count + 1) > stops->capacity && !grow(stops)))
        return false;
    stops->slots[slot_of(stops, address)] = address;
    stops->count++;
    return true;
}

void stops_clear(struct stops *stops)
{
    free(stops->slots);
    *stops = (struct stops){.slots = NULL};
}
