#include "tools/profile/call_table.h"

#include <stdlib.h>

#define SLOTS_MIN 1024u

void call_table_clear(struct call_table *table)
{
    free(table->slots);
    *table = (struct call_table){.slots = NULL};
}

/* The slot of a call, or the slot where it would be inserted. */
static struct profile_call **slot_of(const struct call_table *table,
                                     const struct profile_block *site, uint32_t callee)
{
    uint64_t hash = ((uintptr_t)site ^ (uint64_t)callee << 32) * 0x9e3779b97f4a7c15u;
    size_t slot = (size_t)(hash ^ hash >> 32) & (table->size - 1);
    while (table->slots[slot] &&
           (table->slots[slot]->site != site || table->slots[slot]->callee != callee))
        slot = (slot + 1) & (table->size - 1);
    return &table->slots[slot];
}

/* Grows the table so that at most half of the slots are in use. */
static bool grow(struct call_table *table)
{
    if (table->count < table->size / 2)
        return true;
    struct call_table larger = {.size = table->size ? 2 * table->size : SLOTS_MIN,
                                .count = table->count};
    larger.slots = calloc(larger.size, sizeof(struct profile_call *));
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < table->size; i++)
        if (table->slots[i])
            *slot_of(&larger, table->slots[i]->site, table->slots[i]->callee) = table->slots[i];
    free(table->slots);
    *table = larger;
    return true;
}

struct profile_call *call_table_get(struct call_table *table, struct profile_block *site,
                                    uint32_t callee)
{
    if (site->latest && site->latest->callee == callee)
        return site->latest;
    if (!grow(table))
        return NULL;
    struct profile_call **slot = slot_of(table, site, callee);
    if (!*slot) {
        *slot = calloc(1, sizeof **slot);
        if (!*slot)
            return NULL;
        **slot = (struct profile_call){.site = site, .callee = callee, .next = site->calls};
        site->calls = *slot;
        table->count++;
    }
    return site->latest = *slot;
}
