/* Inclusive and exclusive levels: doc/cache-model.md, "Inclusion". */
#include "tools/cache/model/hierarchy_internal.h"
#include "tools/cache/model/optimum.h"

static bool invalidate(struct cache *cache, uint32_t address, bool written)
{
    size_t slot = line_store_find(&cache->lines, address);
    if (slot == LINE_NONE)
        return false;
    bool dirty = line_store_get(&cache->lines, slot).dirty != 0;
    line_store_remove(&cache->lines, slot);
    cache->counters.back_invalidations++;
    if (written && cache->classifier)
        classify_lost(cache, cache_line_address(cache, address));
    return dirty;
}

bool inclusion_invalidate_above(struct cache *cache, uint32_t address, uint32_t bytes, bool written)
{
    bool dirty = false;
    for (struct cache *above = cache->above; above; above = above->next) {
        dirty |= inclusion_invalidate_above(above, address, bytes, written);
        uint32_t line = above->settings->line;
        for (uint32_t done = 0; done < bytes; done += line)
            dirty |= invalidate(above, address + done, written);
    }
    return dirty;
}

void inclusion_give_up(struct cache *cache, struct cache_line *line)
{
    if (inclusion_invalidate_above(cache, line->address, cache->settings->line, false))
        line->dirty = line->valid;
}

bool exclusive_refer(struct cache *cache, const struct cache_reference *reference)
{
    size_t slot = line_store_find(&cache->lines, reference->address);
    if (slot == LINE_NONE) {
        if (reference->kind == REFERENCE_WRITE) {
            cache->counters.write_throughs++;
            cache->counters.write_through_bytes += reference->bytes;
        }
        return cache_refer(cache->hierarchy, cache->below, reference);
    }
    bool dirty = line_store_get(&cache->lines, slot).dirty != 0;
    line_store_remove(&cache->lines, slot);
    return dirty;
}

void exclusive_insert(struct cache *cache, uint32_t address, bool dirty)
{
    struct cache_line replaced = {.valid = 0};
    struct cache_line line = {.address = address, .valid = 1};
    size_t slot = line_store_find(&cache->lines, address);
    cache->counters.insertions++;
    if (cache->optimum)
        optimum_fetch(cache->optimum, address);
    if (slot != LINE_NONE) {
        line = line_store_get(&cache->lines, slot);
        slot = line_store_use(&cache->lines, slot);
    } else {
        slot = line_store_allocate(&cache->lines, address, &replaced);
    }
    line.dirty |= dirty;
    line_store_put(&cache->lines, slot, &line);
    cache_dispose(cache, &replaced);
}
