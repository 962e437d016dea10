#include "tools/cache/model/plain_internal.h"

/* Searches a line, moving each entry it passes down by one way; the caller fills the first way.
 * Returns the line's entry, or 0, with the evicted entry in *last. */
static inline uint64_t raise_line(uint64_t *set, uint32_t ways, uint64_t tag, uint64_t *last)
{
    uint64_t moving = set[0];
    if ((moving & ENTRY_TAG) == tag)
        return moving;
    for (uint32_t way = 1; way < ways; way++) {
        uint64_t next = set[way];
        set[way] = moving;
        if ((next & ENTRY_TAG) == tag)
            return next;
        moving = next;
    }
    *last = moving;
    return 0;
}

void plain_refer_wide(struct cache *cache, uint32_t address, enum reference_kind kind, bool whole)
{
    uint64_t *set = wide_set(cache, address);
    const uint64_t tag = tag_of(cache, address);
    uint64_t last = 0;
    if (cache->optimum)
        refer_optimum(cache, address, kind);
    const uint64_t found = raise_line(set, cache->lines.ways, tag, &last);
    set[0] = (found ? found : tag) | (kind == REFERENCE_WRITE ? ENTRY_DIRTY : 0);
    if (!found)
        plain_miss(cache, address, kind, !whole, (uint32_t)(last >> 32), last & ENTRY_DIRTY);
}

/* Searches a line in a set of a narrow store, and puts it, or a new one, into the first way, with
 * flags. Returns whether it was found; if not, *last is the evicted entry. */
NARROW_INLINE bool raise_narrow(uint32_t *set, uint32_t ways, uint32_t tag, uint32_t flags,
                                uint32_t *last)
{
    const uint64_t found = narrow_match(set, ways, tag);
    const uint32_t way = (uint32_t)__builtin_ctzll(found | 1ull << (ways - 1));
    *last = set[way];
    narrow_raise(set, ways, way, (found ? *last : tag) | flags);
    return found != 0;
}

/* The same, with code of their own for frequent numbers of ways. */
static inline bool raise_narrow_ways(uint32_t *set, uint32_t ways, uint32_t tag, uint32_t flags,
                                     uint32_t *last)
{
    switch (ways) {
    case 4:
        return raise_narrow(set, 4, tag, flags, last);
    case 8:
        return raise_narrow(set, 8, tag, flags, last);
    case 16:
        return raise_narrow(set, 16, tag, flags, last);
    default:
        return raise_narrow(set, ways, tag, flags, last);
    }
}

void plain_refer_narrow(struct cache *cache, uint32_t address, enum reference_kind kind, bool whole)
{
    uint32_t *set = narrow_set(cache, address);
    uint32_t last;
    if (cache->optimum)
        refer_optimum(cache, address, kind);
    if (!raise_narrow_ways(set, cache->lines.ways, narrow_tag_of(cache, address),
                           kind == REFERENCE_WRITE ? ENTRY_DIRTY : 0, &last))
        plain_miss(cache, address, kind, !whole, last & ~NARROW_FLAGS, last & ENTRY_DIRTY);
}

void cache_refer_plain(struct hierarchy *hierarchy, struct cache *cache, uint32_t address,
                       uint32_t bytes, enum reference_kind kind)
{
    if (!cache) {
        hierarchy->counters.memory_references[kind]++;
        hierarchy->counters.memory_bytes[kind] += bytes;
        return;
    }
    const bool whole = kind == REFERENCE_WRITE && bytes == cache->settings->line;
    cache->counters.references[kind]++;
    if (cache->lines.narrow)
        plain_refer_narrow(cache, address, kind, whole);
    else
        plain_refer_wide(cache, address, kind, whole);
}

void plain_miss(struct cache *cache, uint32_t address, enum reference_kind kind, bool filled,
                uint32_t replaced, bool dirty)
{
    const uint32_t line = cache->settings->line;
    cache->counters.misses[kind]++;
    cache->counters.line_misses[kind]++;
    if (cache->optimum)
        cache_sample_miss(cache, address);
    if (filled) {
        cache->counters.fills++;
        cache->counters.fill_bytes += line;
        cache_refer_plain(cache->hierarchy, cache->below, cache_line_address(cache, address), line,
                          kind == REFERENCE_FETCH ? REFERENCE_FETCH : REFERENCE_READ);
    }
    if (dirty) {
        cache->counters.write_backs++;
        cache->counters.write_back_bytes += line;
        cache_refer_plain(cache->hierarchy, cache->below, replaced, line, REFERENCE_WRITE);
    }
}
