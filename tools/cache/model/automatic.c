/* Coherence that begins with the second processor: doc/cache-model.md, "Coherence". */
#include "tools/cache/model/hierarchy_internal.h"

static bool dirty_above(const struct cache *cache, uint32_t address)
{
    for (const struct cache *above = cache->above; above; above = above->next) {
        size_t slot = line_store_find(&above->lines, address);
        if (dirty_above(above, address) ||
            (slot != LINE_NONE && line_store_get(&above->lines, slot).dirty))
            return true;
    }
    return false;
}

/* Gives the lines of an agent their states. The only processor so far has no copies elsewhere. */
static void adopt(struct cache *agent)
{
    struct cache *sibling = coherence_sibling(agent);
    for (uint32_t set = 0; set < line_store_sets(&agent->lines); set++) {
        size_t slot = LINE_NONE;
        while ((slot = line_store_next(&agent->lines, set, slot)) != LINE_NONE) {
            struct cache_line line = line_store_get(&agent->lines, slot);
            bool dirty = line.dirty || dirty_above(agent, line.address);
            line.state = dirty ? LINE_MODIFIED : LINE_EXCLUSIVE;
            line_store_put(&agent->lines, slot, &line);
            size_t copy =
                dirty && sibling ? line_store_find(&sibling->lines, line.address) : LINE_NONE;
            if (copy != LINE_NONE)
                coherence_take(sibling, copy, false);
        }
    }
}

static int make_agents(struct hierarchy *hierarchy, unsigned processor)
{
    struct cache *const *sides = hierarchy->caches[hierarchy->agent_level][processor];
    for (unsigned side = 0; side < CACHE_SIDES; side++)
        if (sides[side] && hierarchy_add_agent(hierarchy, sides[side]) < 0)
            return -1;
    for (unsigned side = 0; side < CACHE_SIDES; side++)
        if (sides[side])
            adopt(sides[side]);
    hierarchy->processors[processor].data_agent =
        sides[CACHE_DATA] ? sides[CACHE_DATA] : sides[CACHE_INSTRUCTION];
    return 0;
}

int hierarchy_become_coherent(struct hierarchy *hierarchy)
{
    struct hierarchy_settings *settings = &hierarchy->settings;
    settings->coherence = CACHE_MESI;
    hierarchy->readinv_owns = !settings->plain_readinv;
    hierarchy->shape = hierarchy_shape_of(settings);
    for (unsigned level = 0; level < settings->level_count; level++)
        for (unsigned processor = 0; processor < CACHE_PROCESSORS; processor++)
            for (unsigned side = 0; side < CACHE_SIDES; side++) {
                struct cache *cache = hierarchy->caches[level][processor][side];
                if (cache)
                    cache->plain = hierarchy_is_plain(settings, level, side);
            }
    for (unsigned processor = 0; processor < CACHE_PROCESSORS; processor++)
        if (hierarchy->occurs[processor] && make_agents(hierarchy, processor) < 0)
            return -1;
    return 0;
}
