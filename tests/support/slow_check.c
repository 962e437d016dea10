#include "tests/support/slow_internal.h"

#include <inttypes.h>
#include <stdio.h>

void slow_complain(struct slow_cache *cache, const char *what, uint64_t address)
{
    if (!cache->broken[0])
        snprintf(cache->broken, sizeof cache->broken,
                 "record %" PRIu64 ", address 0x%" PRIx64 ": %s", cache->counters.records, address,
                 what);
}

typedef void check_line(struct slow_cache *cache, const struct slow_store *store,
                        const struct slow_line *line);

static void each_line(struct slow_cache *cache, const struct slow_store *store, check_line *check)
{
    for (uint64_t i = 0; i < store->sets * store->settings.ways; i++)
        if (store->lines[i].there)
            check(cache, store, store->lines + i);
}

static void complain_line(struct slow_cache *cache, const struct slow_store *store,
                          const struct slow_line *line, const char *what)
{
    slow_complain(cache, what, line->number * store->settings.line);
}

/* A line is once in its own set, or in the victim buffer; dirty parts are valid. */
static void check_place(struct slow_cache *cache, const struct slow_store *store,
                        const struct slow_line *line)
{
    unsigned copies = 0;
    for (uint64_t i = 0; i < store->sets * store->settings.ways; i++)
        copies += store->lines[i].there && store->lines[i].number == line->number;
    for (uint32_t i = 0; i < store->victim_count; i++)
        copies += store->victims[i].number == line->number;
    if (copies != 1)
        complain_line(cache, store, line, "a line is twice in a cache");
    if ((uint64_t)(line - store->lines) / store->settings.ways != slow_set(store, line->number))
        complain_line(cache, store, line, "a line is not in its set");
    if (line->valid == 0 || (line->dirty & ~line->valid) != 0 || (line->tags & ~line->valid) != 0)
        complain_line(cache, store, line, "a line is dirty or tagged where it is not valid");
}

static bool path_meets(const struct slow_cache *cache, const struct slow_store *above,
                       const struct slow_store *store)
{
    const struct cache_level *level = &cache->settings.levels[store->level];
    return (level->shared || above->processor == store->processor) &&
           (!level->split || above->side == store->side);
}

/* A line above an inclusive level is also in that level. */
static void check_included(struct slow_cache *cache, const struct slow_store *above,
                           const struct slow_line *line)
{
    for (unsigned level = above->level + 1; level < cache->settings.level_count; level++) {
        if (cache->settings.levels[level].inclusion != CACHE_INCLUSIVE)
            continue;
        const struct slow_store *store =
            slow_store_for(cache, level, above->processor, above->side);
        uint64_t address = line->number * above->settings.line;
        if (path_meets(cache, above, store) && !slow_find(store, slow_number(store, address)))
            complain_line(cache, above, line, "a line above an inclusive level is not in it");
    }
}

/* Whether a level has only one cache of each level above it. */
static bool one_path(const struct slow_cache *cache, unsigned level)
{
    for (unsigned above = 0; above < level; above++)
        if (cache->settings.levels[above].split ||
            (!cache->settings.levels[above].shared && cache->settings.levels[level].shared &&
             cache->processor_count > 1))
            return false;
    return true;
}

static void check_excluded(struct slow_cache *cache, const struct slow_store *store,
                           const struct slow_line *line)
{
    if (cache->settings.levels[store->level].inclusion != CACHE_EXCLUSIVE ||
        !one_path(cache, store->level))
        return;
    const struct slow_store *above =
        slow_store_for(cache, store->level - 1, store->processor, store->side);
    if (slow_find(above, line->number))
        complain_line(cache, store, line, "a line is in an exclusive level and above it");
}

/* Whether a cache above an agent has a line dirty. */
static bool dirty_above(const struct slow_cache *cache, const struct slow_store *agent,
                        uint64_t number)
{
    for (unsigned level = 0; level < agent->level; level++)
        for (unsigned at = 0; at < cache->rows[level].count; at++) {
            const struct slow_store *above = cache->rows[level].stores[at];
            const struct slow_line *line =
                path_meets(cache, above, agent) ? slow_find(above, number) : NULL;
            if (line && line->dirty)
                return true;
        }
    return false;
}

static bool answers(enum slow_state state)
{
    return state == SLOW_MODIFIED || state == SLOW_OWNED || state == SLOW_FORWARD;
}

static void check_states(struct slow_cache *cache, const struct slow_store *agent,
                         const struct slow_line *line)
{
    unsigned copies = 0;  /* all */
    unsigned foreign = 0; /* those of other processors */
    unsigned owners = 0;
    if (agent->level != cache->agents)
        return;
    for (unsigned at = 0; at < cache->rows[agent->level].count; at++) {
        const struct slow_store *store = cache->rows[agent->level].stores[at];
        const struct slow_line *copy = slow_find(store, line->number);
        copies += copy != NULL;
        foreign += copy && store->processor != agent->processor;
        owners += copy && answers(copy->state);
    }
    bool alone = line->state == SLOW_MODIFIED || line->state == SLOW_EXCLUSIVE;
    bool dirty = line->dirty || dirty_above(cache, agent, line->number);
    if (line->state == SLOW_INVALID)
        complain_line(cache, agent, line, "a line has no state");
    if ((alone && foreign > 0) || (line->state == SLOW_MODIFIED && copies > 1))
        complain_line(cache, agent, line, "a line that is modified or exclusive has copies");
    if (owners > 1)
        complain_line(cache, agent, line, "a line has two owners");
    if (dirty && line->state != SLOW_MODIFIED && line->state != SLOW_OWNED)
        complain_line(cache, agent, line, "a line is dirty, and neither modified nor owned");
    if ((line->state == SLOW_OWNED && cache->settings.coherence != CACHE_MOESI) ||
        (line->state == SLOW_EXCLUSIVE && cache->settings.coherence == CACHE_MSI) ||
        (line->state == SLOW_FORWARD && cache->settings.coherence != CACHE_MESIF))
        complain_line(cache, agent, line, "a state that the protocol does not have");
}

/* Lines supplied are lines received, and have as many bytes as lines have. */
static void check_interventions(struct slow_cache *cache)
{
    uint64_t supplied = 0;
    uint64_t received = 0;
    for (unsigned at = 0; at < cache->rows[cache->agents].count; at++) {
        const struct slow_store *store = cache->rows[cache->agents].stores[at];
        const struct cache_counters *counters = &store->counters;
        uint64_t line = store->settings.line;
        supplied += counters->interventions;
        received += counters->received;
        if (counters->clean_intervention_bytes != counters->clean_interventions * line ||
            counters->intervention_bytes !=
                (counters->interventions - counters->clean_interventions) * line)
            slow_complain(cache, "the bytes of interventions are not those of their lines", 0);
    }
    if (supplied != received)
        slow_complain(cache, "the lines supplied are not those received", 0);
}

void slow_check(struct slow_cache *cache)
{
    if (cache->settings.coherence != CACHE_INCOHERENT)
        check_interventions(cache);
    check_line *const checks[] = {check_place, check_included, check_excluded, check_states};
    for (unsigned level = 0; level < cache->settings.level_count; level++)
        for (unsigned at = 0; at < cache->rows[level].count; at++) {
            const struct slow_store *store = cache->rows[level].stores[at];
            for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
                each_line(cache, store, checks[i]);
            if (store->victim_count > store->settings.victim_lines)
                slow_complain(cache, "a victim buffer holds too many lines", 0);
        }
}

void slow_check_memory(struct slow_cache *cache)
{
    if (cache->reads_may_be_old)
        return;
    for (size_t i = 0; i < cache->newest.count; i++) {
        uint64_t address = cache->newest.keys[i] * SLOW_PAGE_BYTES;
        const uint32_t *newest = slow_byte(&cache->newest, address);
        const uint32_t *memory = slow_byte(&cache->memory, address);
        for (uint32_t at = 0; at < SLOW_PAGE_BYTES; at++)
            if (newest[at] != memory[at]) {
                slow_complain(cache, "the newest data is not in memory at the end", address + at);
                return;
            }
    }
}
