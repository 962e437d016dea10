#include "capture/exec/dispatch/breakpoints.h"

#include "formats/base/grow.h"

bool breakpoints_has(const struct breakpoints *breakpoints, uint64_t address)
{
    struct hash_search search = hash_search(&breakpoints->by_address, hash_number(address));
    while (hash_search_next(&search))
        if (breakpoints->addresses[search.number] == address)
            return true;
    return false;
}

bool breakpoints_add(struct breakpoints *breakpoints, uint64_t address)
{
    if (breakpoints_has(breakpoints, address))
        return false;
    uint64_t *grown = grow_array(breakpoints->addresses, &breakpoints->capacity,
                                 breakpoints->count + 1, sizeof *grown);
    if (!grown)
        return false;
    breakpoints->addresses = grown;
    if (hash_index_add(&breakpoints->by_address, hash_number(address),
                       (uint32_t)breakpoints->count) != 0)
        return false;
    grown[breakpoints->count++] = address;
    return true;
}

void breakpoints_clear(struct breakpoints *breakpoints)
{
    free(breakpoints->addresses);
    hash_index_clear(&breakpoints->by_address);
    *breakpoints = (struct breakpoints){.addresses = NULL};
}
