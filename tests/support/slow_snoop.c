#include "tests/support/slow_internal.h"

#include <stdlib.h>
#include <string.h>

/* Iterates over all agents but one, by processor, then by side. */
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
        if (store != others->but)
            return store;
    }
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

/* Returns the other agent that has the line M or O; *holders gets the number of agents that have
 * it. A read changes E to S. */
static struct slow_store *find_supplier(struct slow_cache *cache, const struct slow_store *agent,
                                        uint64_t number, unsigned *holders)
{
    struct others others = {cache, agent, 0};
    struct slow_store *supplier = NULL;
    *holders = 0;
    for (struct slow_store *store; (store = others_next(&others));) {
        const struct slow_line *line = slow_find(store, number);
        *holders += line != NULL;
        if (line && (line->state == SLOW_MODIFIED || line->state == SLOW_OWNED))
            supplier = store;
    }
    return supplier;
}

static void share_exclusive(struct slow_cache *cache, const struct slow_store *agent,
                            uint64_t number)
{
    struct others others = {cache, agent, 0};
    for (struct slow_store *store; (store = others_next(&others));) {
        struct slow_line *line = slow_find(store, number);
        if (line && line->state == SLOW_EXCLUSIVE)
            line->state = SLOW_SHARED;
    }
}

static void supply_read(struct slow_cache *cache, struct slow_store *supplier, uint64_t number,
                        uint32_t *bytes)
{
    bool moesi = cache->settings.coherence == CACHE_MOESI;
    struct slow_line *line = slow_find(supplier, number);
    struct slow_line copy = *line;
    copy.bytes = slow_memory(supplier->settings.line, sizeof *copy.bytes);
    memcpy(copy.bytes, line->bytes, supplier->settings.line * sizeof *copy.bytes);
    gather(cache, supplier, &copy, !moesi);
    memcpy(bytes, copy.bytes, supplier->settings.line * sizeof *bytes);
    line->state = moesi ? SLOW_OWNED : SLOW_SHARED;
    if (!moesi) {
        memcpy(line->bytes, copy.bytes, supplier->settings.line * sizeof *copy.bytes);
        line->dirty = 0;
        if (copy.dirty)
            write_back(cache, supplier, &copy);
    }
    free(copy.bytes);
}

bool slow_snoop(struct slow_cache *cache, struct slow_store *agent, uint64_t number, bool write,
                uint32_t *bytes)
{
    unsigned holders;
    struct slow_line *mine = slow_find(agent, number);
    struct slow_store *supplier = find_supplier(cache, agent, number, &holders);
    if (supplier) {
        supplier->counters.interventions++;
        slow_line_counters(cache, number)->interventions++;
    }
    if (write) {
        mine->state = SLOW_MODIFIED;
        if (supplier)
            memcpy(bytes, slow_find(supplier, number)->bytes, agent->settings.line * sizeof *bytes);
        if (invalidate_others(cache, agent, number, bytes))
            mine->dirty = 1;
        return supplier != NULL;
    }
    bool alone = holders == 0 && cache->settings.coherence != CACHE_MSI;
    mine->state = alone ? SLOW_EXCLUSIVE : SLOW_SHARED;
    share_exclusive(cache, agent, number);
    if (supplier)
        supply_read(cache, supplier, number, bytes);
    return supplier != NULL;
}

/* Invalidates all other copies for a write that is not cached, or not cached elsewhere; writes back
 * dirty ones. */
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
            bool split = cache->settings.levels[cache->agents].split;
            bool own =
                store->processor == agent->processor && (!split || store->side == agent->side);
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
        write_past(cache, agent, number);
        return;
    }
    struct slow_line *line = slow_find(agent, number);
    if (!line || line->state == SLOW_MODIFIED)
        return;
    if (line->state != SLOW_EXCLUSIVE) {
        agent->counters.upgrades++;
        slow_line_counters(cache, number)->upgrades++;
        if (invalidate_others(cache, agent, number, NULL))
            line->dirty = 1;
    }
    line->state = SLOW_MODIFIED;
}
