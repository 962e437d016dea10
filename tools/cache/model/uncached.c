/* Uncacheable references of coherent hierarchies: doc/cache-model.md, "Cacheability". */
#include "tools/cache/model/hierarchy_internal.h"

/* The reference's own processor gives up its copy. */
static void give_up_own(struct cache *agent, size_t slot)
{
    struct cache_line line = line_store_get(&agent->lines, slot);
    line.dirty = coherence_take(agent, slot, false) ? line.valid : 0;
    cache_write_back(agent, &line);
}

/* Another processor keeps its copy for a read, clean. */
static void snoop_uncached_read(struct cache *agent, size_t slot)
{
    struct cache_line line = line_store_get(&agent->lines, slot);
    bool dirty = coherence_clean_above(agent, line.address) || line.dirty;
    line.dirty = 0;
    if (line.state != LINE_FORWARD)
        line.state = LINE_SHARED;
    line_store_put(&agent->lines, slot, &line);
    if (dirty)
        coherence_write_back(agent, line);
}

static void snoop_uncached_write(struct cache *agent, size_t slot)
{
    struct cache_line line = line_store_get(&agent->lines, slot);
    if (coherence_take(agent, slot, true))
        coherence_write_back(agent, line);
}

/* A cache below the agents: the bytes may be newer there than in memory. */
static void pass_shared(struct cache *cache, const struct cache_reference *reference)
{
    bool write = reference->kind == REFERENCE_WRITE;
    uint32_t first = cache_line_address(cache, reference->address);
    uint32_t last = cache_line_address(cache, reference->address + reference->bytes - 1);
    for (uint32_t address = first;; address += cache->settings->line) {
        size_t slot = line_store_find(&cache->lines, address);
        if (slot != LINE_NONE) {
            struct cache_line line = line_store_get(&cache->lines, slot);
            struct cache_line clean = line;
            clean.dirty = 0;
            if (write && cache->inclusion == CACHE_INCLUSIVE)
                inclusion_give_up(cache, &line);
            if (write)
                line_store_remove(&cache->lines, slot);
            else
                line_store_put(&cache->lines, slot, &clean);
            cache_write_back(cache, &line);
        }
        if (address == last)
            break;
    }
}

void coherence_uncached(struct hierarchy *hierarchy, unsigned processor,
                        const struct cache_reference *reference)
{
    const struct cache *agent = hierarchy->processors[processor].data_agent;
    bool write = reference->kind == REFERENCE_WRITE;
    for (unsigned i = 0; i < hierarchy->agent_count; i++) {
        struct cache *other = hierarchy->agents[i];
        size_t slot = line_store_find(&other->lines, reference->address);
        if (slot == LINE_NONE)
            continue;
        if (other->processor == processor)
            give_up_own(other, slot);
        else if (write)
            snoop_uncached_write(other, slot);
        else
            snoop_uncached_read(other, slot);
    }
    for (struct cache *below = agent->below; below; below = below->below)
        pass_shared(below, reference);
    if (write && hierarchy->settings.classify)
        coherence_written(hierarchy, agent, reference);
}
