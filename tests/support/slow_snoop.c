#include "tests/support/slow_internal.h"

#include <stdlib.h>
#include <string.h>

/* Iterates over all agents of other processors, by processor, then by side. */
struct others {
    struct slow_cache *cache;
    const struct slow_store *but;
    unsigned next;
};

static struct slow_store *others_next(struct others *others)
{
    const struct slow_row *row = &others->cache->rows[others->cache->agents];
    while (others->next < row->count) {
        struct slow_store *store = row->stores[others->next++];
        if (store->processor != others->but->processor)
            return store;
    }
    return NULL;
}

/* The other agent of a processor, or NULL. */
static struct slow_store *sibling(struct slow_cache *cache, const struct slow_store *agent)
{
    const struct slow_row *row = &cache->rows[cache->agents];
    for (unsigned at = 0; at < row->count; at++)
        if (row->stores[at]->processor == agent->processor && row->stores[at] != agent)
            return row->stores[at];
    return NULL;
}

bool slow_is_agent(const struct slow_cache *cache, const struct slow_store *store)
{
    return store->level == cache->agents;
}

/* Merges dirty data of caches above into an agent's line; with clean, cleans them. */
static void gather(struct slow_cache *cache, const struct slow_store *agent, struct slow_line *line,
                   bool clean)
{
    for (unsigned level = agent->level; level-- > 0;)
        for (unsigned at = 0; at < cache->rows[level].count; at++) {
            struct slow_store *store = cache->rows[level].stores[at];
            bool own = store->processor == agent->processor &&
                       (!cache->settings.levels[agent->level].split || store->side == agent->side);
            struct slow_line *above = own ? slow_find(store, line->number) : NULL;
            if (!above || !above->dirty)
                continue;
            memcpy(line->bytes, above->bytes, agent->settings.line * sizeof *line->bytes);
            line->dirty = 1;
            if (clean)
                above->dirty = 0;
        }
}

/* Invalidates an agent's line for a write. Returns the line, with dirty data from above. The caller
 * frees its bytes. */
static struct slow_line invalidate(struct slow_cache *cache, struct slow_store *agent,
                                   struct slow_line *line)
{
    slow_optimum_note(cache, agent, line->number, SLOW_LOSS, REFERENCE_READ);
    struct slow_line taken = slow_take(line);
    agent->counters.invalidations++;
    slow_line_counters(cache, taken.number)->invalidations++;
    slow_lost(cache, agent, taken.number);
    slow_give_up_above(cache, agent, &taken, true);
    return taken;
}

static void write_back(struct slow_cache *cache, struct slow_store *agent, struct slow_line *line)
{
    agent->counters.snoop_write_backs++;
    slow_line_counters(cache, line->number)->write_backs++;
    slow_write_runs(cache, agent, line);
}

/* Invalidates the line in all other agents. Returns whether one of them had it dirty; bytes[] (or
 * NULL) gets its data. */
static bool invalidate_others(struct slow_cache *cache, const struct slow_store *but,
                              uint64_t number, uint32_t *bytes)
{
    struct others others = {cache, but, 0};
    bool dirty = false;
    for (struct slow_store *store; (store = others_next(&others));) {
        struct slow_line *line = slow_find(store, number);
        if (!line)
            continue;
        struct slow_line taken = invalidate(cache, store, line);
        if (taken.dirty) {
            dirty = true;
            if (bytes)
                memcpy(bytes, taken.bytes, store->settings.line * sizeof *bytes);
        }
        free(taken.bytes);
    }
    return dirty;
}

/* Drops the line in one agent, without a count; dirty data is written back. */
static void drop(struct slow_cache *cache, struct slow_store *agent, uint64_t number)
{
    struct slow_line *line = agent ? slow_find(agent, number) : NULL;
    if (!line)
        return;
    slow_optimum_note(cache, agent, line->number, SLOW_LOSS, REFERENCE_READ);
    struct slow_line taken = slow_take(line);
    slow_give_up_above(cache, agent, &taken, false);
    slow_write_runs(cache, agent, &taken);
    free(taken.bytes);
}

/* Writes back an agent's dirty copy, also of caches above; the line stays and is clean. */
static void clean(struct slow_cache *cache, struct slow_store *agent, struct slow_line *line,
                  bool snooped)
{
    gather(cache, agent, line, true);
    if (!line->dirty)
        return;
    if (snooped)
        write_back(cache, agent, line);
    else
        slow_write_runs(cache, agent, line);
}

/* Returns the first other agent that supplies a line; *holders gets the number of agents that have
 * it. */
static struct slow_store *find_supplier(struct slow_cache *cache, const struct slow_store *agent,
                                        uint64_t number, unsigned *holders)
{
    struct others others = {cache, agent, 0};
    struct slow_store *supplier = NULL;
    bool mesif = cache->settings.coherence == CACHE_MESIF;
    *holders = 0;
    for (struct slow_store *store; (store = others_next(&others));) {
        const struct slow_line *line = slow_find(store, number);
        if (!line)
            continue;
        ++*holders;
        bool supplies = line->state == SLOW_MODIFIED || line->state == SLOW_OWNED ||
                        (mesif && (line->state == SLOW_EXCLUSIVE || line->state == SLOW_FORWARD));
        if (supplies && !supplier)
            supplier = store;
    }
    return supplier;
}

static void count_intervention(struct slow_cache *cache, struct slow_store *supplier,
                               struct slow_store *agent, uint64_t number)
{
    enum slow_state state = slow_find(supplier, number)->state;
    supplier->counters.interventions++;
    slow_line_counters(cache, number)->interventions++;
    agent->counters.received++;
    if (state == SLOW_EXCLUSIVE || state == SLOW_FORWARD) {
        supplier->counters.clean_interventions++;
        supplier->counters.clean_intervention_bytes += supplier->settings.line;
    } else {
        supplier->counters.intervention_bytes += supplier->settings.line;
    }
}

/* The supplier's newest data; caches above it have newer data than it. */
static void copy_data(struct slow_cache *cache, const struct slow_store *supplier, uint64_t number,
                      uint32_t *bytes)
{
    struct slow_line copy = *slow_find(supplier, number);
    copy.bytes = slow_memory(supplier->settings.line, sizeof *copy.bytes);
    memcpy(copy.bytes, slow_find(supplier, number)->bytes,
           supplier->settings.line * sizeof *copy.bytes);
    gather(cache, supplier, &copy, false);
    memcpy(bytes, copy.bytes, supplier->settings.line * sizeof *bytes);
    free(copy.bytes);
}

static bool snoop_write(struct slow_cache *cache, struct slow_store *agent,
                        const struct slow_reference *part, uint32_t *bytes)
{
    unsigned holders;
    uint64_t number = slow_number(agent, part->address);
    struct slow_line *mine = slow_find(agent, number);
    struct slow_store *supplier = find_supplier(cache, agent, number, &holders);
    mine->state = SLOW_MODIFIED;
    drop(cache, sibling(cache, agent), number);
    if (part->whole) {
        invalidate_others(cache, agent, number, NULL);
        return false;
    }
    if (supplier) {
        count_intervention(cache, supplier, agent, number);
        copy_data(cache, supplier, number, bytes);
    }
    if (invalidate_others(cache, agent, number, supplier ? bytes : NULL) || part->owns)
        mine->dirty = 1;
    return supplier != NULL;
}

static void share_with_sibling(struct slow_cache *cache, struct slow_store *other, uint64_t number)
{
    struct slow_line *line = other ? slow_find(other, number) : NULL;
    if (!line || (line->state != SLOW_MODIFIED && line->state != SLOW_OWNED))
        return;
    if (line->state == SLOW_MODIFIED)
        line->state = cache->settings.coherence == CACHE_MSI ? SLOW_SHARED : SLOW_EXCLUSIVE;
    clean(cache, other, line, false);
}

/* What a read does to the copies in other agents. */
static void share(struct slow_cache *cache, struct slow_store *agent, uint64_t number)
{
    struct others others = {cache, agent, 0};
    bool moesi = cache->settings.coherence == CACHE_MOESI;
    for (struct slow_store *store; (store = others_next(&others));) {
        struct slow_line *line = slow_find(store, number);
        if (!line)
            continue;
        if (line->state == SLOW_MODIFIED && !moesi) {
            line->state = SLOW_SHARED;
            clean(cache, store, line, true);
        } else if (line->state == SLOW_MODIFIED || line->state == SLOW_OWNED) {
            line->state = SLOW_OWNED;
        } else {
            line->state = SLOW_SHARED;
        }
    }
}

static bool snoop_read(struct slow_cache *cache, struct slow_store *agent, uint64_t number,
                       uint32_t *bytes)
{
    unsigned holders;
    struct slow_store *other = sibling(cache, agent);
    share_with_sibling(cache, other, number);
    const struct slow_line *copy = other ? slow_find(other, number) : NULL;
    bool forward =
        cache->settings.coherence == CACHE_MESIF && !(copy && copy->state == SLOW_FORWARD);
    struct slow_store *supplier = find_supplier(cache, agent, number, &holders);
    if (supplier) {
        count_intervention(cache, supplier, agent, number);
        copy_data(cache, supplier, number, bytes);
    }
    struct slow_line *mine = slow_find(agent, number);
    if (holders == 0 && cache->settings.coherence != CACHE_MSI)
        mine->state = SLOW_EXCLUSIVE;
    else
        mine->state = forward ? SLOW_FORWARD : SLOW_SHARED;
    share(cache, agent, number);
    return supplier != NULL;
}

bool slow_snoop(struct slow_cache *cache, struct slow_store *agent,
                const struct slow_reference *part, uint32_t *bytes)
{
    if (part->kind == REFERENCE_WRITE || part->for_write)
        return snoop_write(cache, agent, part, bytes);
    return snoop_read(cache, agent, slow_number(agent, part->address), bytes);
}

/* Invalidates all copies of other processors for a write that is not cached, or not cached
 * elsewhere; writes back dirty ones. */
static void write_past(struct slow_cache *cache, const struct slow_store *agent, uint64_t number)
{
    struct others others = {cache, agent, 0};
    for (struct slow_store *store; (store = others_next(&others));) {
        struct slow_line *line = slow_find(store, number);
        if (!line)
            continue;
        struct slow_line taken = invalidate(cache, store, line);
        if (taken.dirty)
            write_back(cache, store, &taken);
        free(taken.bytes);
    }
}

/* Records the written units with the caches that lost the line before. */
static void update_losses(struct slow_cache *cache, const struct slow_store *agent, uint64_t number)
{
    for (unsigned level = 0; level <= cache->agents; level++)
        for (unsigned at = 0; at < cache->rows[level].count; at++) {
            struct slow_store *store = cache->rows[level].stores[at];
            bool own = store->processor == agent->processor;
            struct slow_loss *loss = own ? NULL : slow_map_find(&store->losses, number);
            if (loss)
                loss->units |= cache->write_units;
        }
}

void slow_own(struct slow_cache *cache, const struct slow_reference *part)
{
    struct slow_store *agent = slow_store_for(cache, cache->agents, part->processor, CACHE_DATA);
    uint64_t number = slow_number(agent, part->address);
    cache->write_units = slow_units(agent, part->address, part->size);
    update_losses(cache, agent, number);
    if (part->attribute != ATTRIBUTE_WRITE_BACK) {
        drop(cache, sibling(cache, agent), number);
        write_past(cache, agent, number);
        return;
    }
    struct slow_line *line = slow_find(agent, number);
    if (!line)
        return;
    if (line->state == SLOW_SHARED || line->state == SLOW_FORWARD || line->state == SLOW_OWNED) {
        agent->counters.upgrades++;
        slow_line_counters(cache, number)->upgrades++;
        if (invalidate_others(cache, agent, number, NULL))
            line->dirty = 1;
    }
    drop(cache, sibling(cache, agent), number);
    line->state = SLOW_MODIFIED;
    if (part->owns)
        line->dirty = 1;
}

/* A read that is not cached: other processors keep clean copies. */
static void read_past(struct slow_cache *cache, const struct slow_store *agent, uint64_t number)
{
    struct others others = {cache, agent, 0};
    for (struct slow_store *store; (store = others_next(&others));) {
        struct slow_line *line = slow_find(store, number);
        if (!line)
            continue;
        if (line->state != SLOW_FORWARD)
            line->state = SLOW_SHARED;
        clean(cache, store, line, true);
    }
}

/* Writes back what a shared level has of the bytes; for a write the lines go. */
static void pass_shared(struct slow_cache *cache, struct slow_store *store,
                        const struct slow_reference *part)
{
    uint64_t last = slow_number(store, part->address + part->size - 1);
    for (uint64_t number = slow_number(store, part->address); number <= last; number++) {
        struct slow_line *line = slow_find(store, number);
        if (line && part->kind != REFERENCE_WRITE)
            slow_write_runs(cache, store, line);
        if (!line || part->kind != REFERENCE_WRITE)
            continue;
        slow_optimum_note(cache, store, line->number, SLOW_LOSS, REFERENCE_READ);
        struct slow_line taken = slow_take(line);
        if (cache->settings.levels[store->level].inclusion == CACHE_INCLUSIVE)
            slow_give_up_above(cache, store, &taken, false);
        slow_write_runs(cache, store, &taken);
        free(taken.bytes);
    }
}

void slow_uncached(struct slow_cache *cache, const struct slow_reference *part)
{
    struct slow_store *agent = slow_store_for(cache, cache->agents, part->processor, CACHE_DATA);
    uint64_t number = slow_number(agent, part->address);
    if (part->kind == REFERENCE_WRITE) {
        cache->write_units = slow_units(agent, part->address, part->size);
        update_losses(cache, agent, number);
        write_past(cache, agent, number);
    } else {
        read_past(cache, agent, number);
    }
    drop(cache, agent, number);
    drop(cache, sibling(cache, agent), number);
    for (unsigned level = cache->agents + 1; level < cache->settings.level_count; level++)
        pass_shared(cache, slow_store_for(cache, level, part->processor, part->side), part);
}

void slow_become_coherent(struct slow_cache *cache)
{
    cache->settings.coherence = CACHE_MESI;
    cache->agents = slow_agents_level(&cache->settings);
    for (unsigned at = 0; at < cache->rows[cache->agents].count; at++) {
        struct slow_store *agent = cache->rows[cache->agents].stores[at];
        for (uint64_t i = 0; i < agent->sets * agent->settings.ways; i++) {
            struct slow_line *line = agent->lines + i;
            if (!line->there)
                continue;
            struct slow_line copy = *line;
            copy.bytes = slow_memory(agent->settings.line, sizeof *copy.bytes);
            gather(cache, agent, &copy, false);
            free(copy.bytes);
            line->state = copy.dirty ? SLOW_MODIFIED : SLOW_EXCLUSIVE;
            if (copy.dirty)
                drop(cache, sibling(cache, agent), line->number);
        }
    }
}
