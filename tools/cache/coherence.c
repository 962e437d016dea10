/* Snooping between the agents: doc/cache-model.md, "Coherence". */
#include "tools/cache/hierarchy_internal.h"

/*
 * Marks the dirty lines of an address in the caches above as clean. Returns whether there were any.
 */
static bool clean_above(struct cache *cache, uint32_t address)
{
    bool dirty = false;
    for (struct cache *above = cache->above; above; above = above->next) {
        dirty |= clean_above(above, address);
        size_t slot = line_store_find(&above->lines, address);
        if (slot == LINE_NONE)
            continue;
        struct cache_line line = line_store_get(&above->lines, slot);
        dirty |= line.dirty != 0;
        line.dirty = 0;
        line_store_put(&above->lines, slot, &line);
    }
    return dirty;
}

static void snoop_write_back(struct cache *agent, struct cache_line line)
{
    line.dirty = line.valid;
    agent->counters.snoop_write_backs++;
    hierarchy_line(agent->hierarchy, line.address)->write_backs++;
    cache_write_back(agent, &line);
}

static void count_intervention(struct cache *agent, uint32_t address)
{
    agent->counters.interventions++;
    hierarchy_line(agent->hierarchy, address)->interventions++;
}

/* Invalidates an agent's line for another agent's write. Returns whether it was dirty there or
 * above. */
static bool take_line(struct cache *agent, size_t slot)
{
    struct cache_line line = line_store_get(&agent->lines, slot);
    bool dirty =
        inclusion_invalidate_above(agent, line.address, agent->settings->line, true) || line.dirty;
    line_store_remove(&agent->lines, slot);
    agent->counters.invalidations++;
    hierarchy_line(agent->hierarchy, line.address)->invalidations++;
    if (agent->classifier)
        classify_lost(agent, line.address);
    return dirty;
}

static bool supplies(enum line_state state)
{
    return state == LINE_MODIFIED || state == LINE_OWNED;
}

/* Another agent reads a line that this agent holds. Returns whether this agent supplies it. */
static bool snoop_read(struct cache *agent, size_t slot)
{
    struct cache_line line = line_store_get(&agent->lines, slot);
    enum cache_coherence protocol = agent->hierarchy->settings.coherence;
    bool supplied = supplies(line.state);
    bool write_back = false;
    if (supplied) {
        count_intervention(agent, line.address);
        if (protocol != CACHE_MOESI) {
            write_back = clean_above(agent, line.address) || line.dirty;
            line.dirty = 0;
        }
    }
    line.state = supplied && protocol == CACHE_MOESI ? LINE_OWNED : LINE_SHARED;
    line_store_put(&agent->lines, slot, &line);
    if (write_back)
        snoop_write_back(agent, line);
    return supplied;
}

static void set_state(struct cache *agent, uint32_t address, enum line_state state, bool dirty)
{
    size_t slot = line_store_find(&agent->lines, address);
    if (slot == LINE_NONE)
        return;
    struct cache_line line = line_store_get(&agent->lines, slot);
    line.state = state;
    if (dirty)
        line.dirty = line.valid;
    line_store_put(&agent->lines, slot, &line);
}

/* Invalidates a line in all agents but this one. Returns whether one of them supplies it; sets
 * *dirty if it was dirty there. */
static bool take_from_others(struct cache *agent, uint32_t address, bool intervene, bool *dirty)
{
    struct hierarchy *hierarchy = agent->hierarchy;
    bool supplied = false;
    for (unsigned i = 0; i < hierarchy->agent_count; i++) {
        struct cache *other = hierarchy->agents[i];
        size_t slot = other == agent ? LINE_NONE : line_store_find(&other->lines, address);
        if (slot == LINE_NONE)
            continue;
        if (supplies(line_store_get(&other->lines, slot).state)) {
            supplied = true;
            if (intervene)
                count_intervention(other, cache_line_address(other, address));
        }
        *dirty |= take_line(other, slot);
    }
    return supplied;
}

bool coherence_miss(struct cache *agent, uint32_t address, bool *dirty)
{
    struct hierarchy *hierarchy = agent->hierarchy;
    bool supplied = false;
    if (hierarchy->writer == agent && hierarchy->written == cache_line_address(agent, address)) {
        supplied = take_from_others(agent, address, true, dirty);
        set_state(agent, address, LINE_MODIFIED, false);
        return supplied;
    }
    bool others = false;
    for (unsigned i = 0; i < hierarchy->agent_count; i++) {
        struct cache *other = hierarchy->agents[i];
        size_t slot = other == agent ? LINE_NONE : line_store_find(&other->lines, address);
        if (slot == LINE_NONE)
            continue;
        others = true;
        supplied |= snoop_read(other, slot);
    }
    bool alone = !others && hierarchy->settings.coherence != CACHE_MSI;
    set_state(agent, address, alone ? LINE_EXCLUSIVE : LINE_SHARED, false);
    return supplied;
}

/* A write with attribute 1 or 2: other agents write back their dirty copies, then all copies are
 * invalidated. */
static void own_through(struct cache *agent, uint32_t address)
{
    struct hierarchy *hierarchy = agent->hierarchy;
    for (unsigned i = 0; i < hierarchy->agent_count; i++) {
        struct cache *other = hierarchy->agents[i];
        size_t slot = other == agent ? LINE_NONE : line_store_find(&other->lines, address);
        if (slot == LINE_NONE)
            continue;
        struct cache_line line = line_store_get(&other->lines, slot);
        if (take_line(other, slot))
            snoop_write_back(other, line);
    }
}

void coherence_own(struct hierarchy *hierarchy, struct cache *agent,
                   const struct cache_reference *write)
{
    uint32_t address = cache_line_address(agent, write->address);
    if (write->through) {
        own_through(agent, address);
        return;
    }
    hierarchy->writer = agent;
    hierarchy->written = address;
    size_t slot = line_store_find(&agent->lines, address);
    if (slot == LINE_NONE)
        return;
    enum line_state state = line_store_get(&agent->lines, slot).state;
    if (state == LINE_MODIFIED)
        return;
    bool dirty = false;
    if (state != LINE_EXCLUSIVE) {
        agent->counters.upgrades++;
        hierarchy_line(hierarchy, address)->upgrades++;
        take_from_others(agent, address, false, &dirty);
    }
    set_state(agent, address, LINE_MODIFIED, dirty);
}

void coherence_written(struct hierarchy *hierarchy, const struct cache *agent,
                       const struct cache_reference *write)
{
    for (unsigned i = 0; i < hierarchy->agent_count; i++)
        if (hierarchy->agents[i] != agent)
            classify_written(hierarchy->agents[i], write);
}
