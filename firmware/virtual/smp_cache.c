#include "firmware/virtual/smp_cache.h"

#include <stddef.h>

static smp_line *set_of(struct smp_cache *cache, uint32_t address)
{
    return cache->lines[address / SMP_LINE_BYTES % SMP_CACHE_SETS];
}

smp_line *smp_cache_find(struct smp_cache *cache, uint32_t address)
{
    smp_line *set = set_of(cache, address);
    if (smp_line_holds(set[0], address))
        return &set[0];
    return smp_line_holds(set[1], address) ? &set[1] : NULL;
}

smp_line *smp_cache_use_slow(struct smp_cache *cache, uint32_t address)
{
    smp_line *set = set_of(cache, address);
    if (!smp_line_holds(set[1], address))
        return NULL;
    smp_line used = set[1];
    set[1] = set[0];
    set[0] = used;
    return &set[0];
}

smp_line smp_cache_put(struct smp_cache *cache, uint32_t address, enum smp_state state)
{
    smp_line *set = set_of(cache, address);
    /* An invalid way is free, whatever its age. */
    if (smp_line_state(set[0]) == SMP_INVALID) {
        set[0] = smp_line_address(address) | state;
        return 0;
    }
    smp_line old = set[1];
    set[1] = set[0];
    set[0] = smp_line_address(address) | state;
    return smp_line_state(old) == SMP_INVALID ? 0 : old;
}
