#include "capture/exec/dispatch/breakpoints.h"

#include <stdlib.h>

#define CAPACITY_MIN 16u
#define GOLDEN       UINT64_C(0x9e3779b97f4a7c15)

/* The slot of an address, or the free slot for it. */
static size_t slot_of(const struct breakpoints *breakpoints, uint64_t address)
{
    size_t slot = (size_t)(address * GOLDEN >> 32) & (breakpoints->capacity - 1);
    while (breakpoints->slots[slot] != 0 && breakpoints->slots[slot] != address)
        slot = (slot + 1) & (breakpoints->capacity - 1);
    return slot;
}

static bool grow(struct breakpoints *breakpoints)
{
    struct breakpoints larger = {.capacity = breakpoints->capacity ? 2 * breakpoints->capacity
                                                                   : CAPACITY_MIN};
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < breakpoints->capacity; i++)
        if (breakpoints->slots[i] != 0)
            larger.slots[slot_of(&larger, breakpoints->slots[i])] = breakpoints->slots[i];
    larger.count = breakpoints->count;
    free(breakpoints->slots);
    *breakpoints = larger;
    return true;
}

bool breakpoints_has(const struct breakpoints *breakpoints, uint64_t address)
{
    return breakpoints->count > 0 && breakpoints->slots[slot_of(breakpoints, address)] == address;
}

bool breakpoints_add(struct breakpoints *breakpoints, uint64_t address)
{
    if (breakpoints_has(breakpoints, address) ||
        (2 * (breakpoints->count + 1) > breakpoints->capacity && !grow(breakpoints)))
        return false;
    breakpoints->slots[slot_of(breakpoints, address)] = address;
    breakpoints->count++;
    return true;
}

void breakpoints_clear(struct breakpoints *breakpoints)
{
    free(breakpoints->slots);
    *breakpoints = (struct breakpoints){.slots = NULL};
}
