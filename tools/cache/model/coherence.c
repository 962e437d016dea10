/* Snooping between the agents: doc/cache-model.md, "Coherence". */
#include "tools/cache/model/hierarchy_internal.h"

struct cache *coherence_sibling(const struct cache *agent)
{
    if (!agent->hierarchy->settings.levels[agent->level].split)
        return NULL;
    return agent->hierarchy->caches[agent->level][agent->processor][1 - agent->side];
}

bool coherence_clean_above(struct cache *cache, uint32_t address)
{
    bool dirty = false;
    for (struct cache *above = cache->above; above; above = above->next) {
        dirty |= coherence_clean_above(above, address);
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

void coherence_write_back(struct cache *agent, struct cache_line line)
{
    line.dirty = line.valid;
    agent->counters.snoop_write_backs++;
    hierarchy_line(agent->hierarchy, line.address)->write_backs++;
    cache_write_back(agent, &line);
}

/* A line that was M or O comes from its owner; one that was E or F is clean. */
static void count_intervention(struct cache *agent, const struct cache_line *line)
{
    bool clean = line->state == LINE_EXCLUSIVE || line->state == LINE_FORWARD;
    struct cache_counters *counters = &agent->counters;
    counters->interventions++;
    counters->clean_interventions += clean;
    *(clean ? &counters->clean_intervention_bytes : &counters->intervention_bytes) +=
        agent->settings->line;
    hierarchy_line(agent->hierarchy, line->address)->interventions++;
}

bool coherence_take(struct cache *agent, size_t slot, bool counted)
{
    struct cache_line line = line_store_get(&agent->lines, slot);
    bool dirty = inclusion_invalidate_above(agent, line.address, agent->settings->line, counted) ||
                 line.dirty;
    line_store_remove(&agent->lines, slot);
    if (!counted)
        return dirty;
    agent->counters.invalidations++;
    hierarchy_line(agent->hierarchy, line.address)->invalidations++;
    if (agent->classifier)
        classify_lost(agent, line.address);
    return dirty;
}

static bool is_owner(enum line_state state)
{
    return state == LINE_MODIFIED || state == LINE_OWNED;
}

static bool supplies(enum cache_coherence protocol, enum line_state state)
{
    return is_owner(state) ||
           (protocol == CACHE_MESIF && (state == LINE_EXCLUSIVE || state == LINE_FORWARD));
}

/* An agent of another processor reads a line that this agent holds. supplied: it has the line from
 * another one. Returns whether this agent supplies it. */
static bool snoop_read(struct cache *agent, size_t slot, bool supplied)
{
    struct cache_line line = line_store_get(&agent->lines, slot);
    enum cache_coherence protocol = agent->hierarchy->settings.coherence;
    bool owner = is_owner(line.state);
    bool write_back = false;
    supplied = !supplied && supplies(protocol, line.state);
    if (supplied)
        count_intervention(agent, &line);
    if (owner && protocol != CACHE_MOESI) {
        write_back = coherence_clean_above(agent, line.address) || line.dirty;
        line.dirty = 0;
    }
    line.state = owner && protocol == CACHE_MOESI ? LINE_OWNED : LINE_SHARED;
    line_store_put(&agent->lines, slot, &line);
    if (write_back)
        coherence_write_back(agent, line);
    return supplied;
}

/* The other agent of the processor reads a line that this agent may hold: its dirty copy is written
 * back, so that the line comes from below, and its next write asks again. Returns whether it holds
 * the line in state F. */
static bool share_with_sibling(struct cache *agent, uint32_t address)
{
    size_t slot = line_store_find(&agent->lines, address);
    if (slot == LINE_NONE)
        return false;
    struct cache_line line = line_store_get(&agent->lines, slot);
    if (!is_owner(line.state))
        return line.state == LINE_FORWARD;
    bool dirty = coherence_clean_above(agent, address) || line.dirty;
    line.dirty = 0;
    if (line.state == LINE_MODIFIED)
        line.state =
            agent->hierarchy->settings.coherence == CACHE_MSI ? LINE_SHARED : LINE_EXCLUSIVE;
    line_store_put(&agent->lines, slot, &line);
    line.dirty = dirty ? line.valid : 0;
    cache_write_back(agent, &line);
    return false;
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

/* Invalidates a line in all agents but this one; the other agent of the processor neither counts
 * nor supplies. Returns whether one of them supplies it; sets *dirty if it was dirty there. */
static bool take_from_others(struct cache *agent, uint32_t address, bool intervene, bool *dirty)
{
    struct hierarchy *hierarchy = agent->hierarchy;
    bool supplied = false;
    for (unsigned i = 0; i < hierarchy->agent_count; i++) {
        struct cache *other = hierarchy->agents[i];
        size_t slot = other == agent ? LINE_NONE : line_store_find(&other->lines, address);
        if (slot == LINE_NONE)
            continue;
        struct cache_line line = line_store_get(&other->lines, slot);
        bool foreign = other->processor != agent->processor;
        if (foreign && intervene && !supplied &&
            supplies(hierarchy->settings.coherence, line.state)) {
            supplied = true;
            count_intervention(other, &line);
        }
        *dirty |= coherence_take(other, slot, foreign);
    }
    return supplied;
}

/* A write, or a read that owns, misses. A write of the whole line needs no data. */
static bool write_miss(struct cache *agent, uint32_t address, bool *dirty)
{
    struct hierarchy *hierarchy = agent->hierarchy;
    bool whole = hierarchy->writes_whole;
    bool supplied = take_from_others(agent, address, !whole, dirty);
    agent->counters.received += supplied;
    set_state(agent, address, LINE_MODIFIED, hierarchy->reads_to_own);
    if (!whole)
        return supplied;
    *dirty = false;
    return !agent->always_fills;
}

static bool read_miss(struct cache *agent, uint32_t address)
{
    struct hierarchy *hierarchy = agent->hierarchy;
    enum cache_coherence protocol = hierarchy->settings.coherence;
    struct cache *sibling = coherence_sibling(agent);
    bool forwarded = sibling && share_with_sibling(sibling, address);
    bool supplied = false;
    bool others = false;
    for (unsigned i = 0; i < hierarchy->agent_count; i++) {
        struct cache *other = hierarchy->agents[i];
        size_t slot = other->processor == agent->processor
                          ? LINE_NONE
                          : line_store_find(&other->lines, address);
        if (slot == LINE_NONE)
            continue;
        others = true;
        supplied |= snoop_read(other, slot, supplied);
    }
    agent->counters.received += supplied;
    enum line_state shared = protocol == CACHE_MESIF && !forwarded ? LINE_FORWARD : LINE_SHARED;
    bool alone = !others && protocol != CACHE_MSI;
    set_state(agent, address, alone ? LINE_EXCLUSIVE : shared, false);
    return supplied;
}

bool coherence_miss(struct cache *agent, uint32_t address, bool *dirty)
{
    const struct hierarchy *hierarchy = agent->hierarchy;
    bool writes =
        hierarchy->writer == agent && hierarchy->written == cache_line_address(agent, address);
    return writes ? write_miss(agent, address, dirty) : read_miss(agent, address);
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
        if (coherence_take(other, slot, other->processor != agent->processor))
            coherence_write_back(other, line);
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
    hierarchy->reads_to_own = write->owns;
    hierarchy->writes_whole =
        write->kind == REFERENCE_WRITE && write->bytes == agent->settings->line;
    size_t slot = line_store_find(&agent->lines, address);
    if (slot == LINE_NONE)
        return;
    enum line_state state = line_store_get(&agent->lines, slot).state;
    bool dirty = write->owns;
    if (state == LINE_MODIFIED && !dirty)
        return;
    if (state != LINE_EXCLUSIVE && state != LINE_MODIFIED) {
        agent->counters.upgrades++;
        hierarchy_line(hierarchy, address)->upgrades++;
    }
    if (state != LINE_MODIFIED)
        take_from_others(agent, address, false, &dirty);
    set_state(agent, address, LINE_MODIFIED, dirty);
}

void coherence_written(struct hierarchy *hierarchy, const struct cache *agent,
                       const struct cache_reference *write)
{
    for (unsigned i = 0; i < hierarchy->agent_count; i++)
        if (hierarchy->agents[i]->processor != agent->processor)
            classify_written(hierarchy->agents[i], write);
}
