#include "tools/cache/study/access_time.h"

/* References, and misses that wait for the next level. */
struct flow {
    double references, misses;
};

static bool is_split(const struct cache_results *results, unsigned level)
{
    return results->settings.levels[level].split;
}

/* The references of the processors in level 1. A write that does not allocate, and one that is
 * written through a missing line, waits for nothing. */
static struct flow first_level(const struct cache_results *results, enum cache_side side)
{
    const struct cache_counters sum = cache_results_sum(results, 0, side);
    const struct cache_settings *cache = &results->settings.levels[0].sides[side];
    struct flow flow = {0, 0};
    double all = 0;
    for (unsigned kind = 0; kind < REFERENCE_KINDS; kind++) {
        flow.references += (double)sum.references[kind];
        all += (double)sum.misses[kind];
        if (kind != REFERENCE_WRITE || !cache->no_write_allocate)
            flow.misses += (double)sum.misses[kind];
    }
    if (all > 0) /* hits in the victim buffer are not counted by kind */
        flow.misses -= flow.misses * (double)sum.victim_hits / all;
    return flow;
}

/* The fills of the level above that one side causes in a level: fetches, reads, or both (side
 * CACHE_SIDES). Writes from above are write-backs, which nothing waits for. */
static struct flow lower_level(const struct cache_results *results, unsigned level, unsigned side)
{
    struct flow flow = {0, 0};
    for (unsigned own = 0; own < (is_split(results, level) ? CACHE_SIDES : 1u); own++) {
        const struct cache_counters sum = cache_results_sum(results, level, (enum cache_side)own);
        double all = 0, misses = 0;
        for (unsigned kind = 0; kind < REFERENCE_KINDS; kind++) {
            all += (double)sum.misses[kind];
            if (kind == REFERENCE_WRITE || (side == CACHE_INSTRUCTION && kind != REFERENCE_FETCH) ||
                (side == CACHE_DATA && kind != REFERENCE_READ))
                continue;
            flow.references += (double)sum.references[kind];
            misses += (double)sum.misses[kind];
        }
        if (all > 0)
            misses -= misses * (double)sum.victim_hits / all;
        flow.misses += misses;
    }
    return flow;
}

bool access_time_is_known(const struct hierarchy_settings *settings)
{
    return settings->memory_latency > 0;
}

struct access_time access_time_of(const struct cache_results *results, enum cache_side side)
{
    const struct hierarchy_settings *settings = &results->settings;
    const bool split = is_split(results, 0);
    const struct flow first = first_level(results, split ? side : CACHE_INSTRUCTION);
    struct access_time time = {.references = (uint64_t)first.references};
    if (first.references == 0)
        return time;
    double reach = 1; /* share of the references that reach the level */
    for (unsigned level = 0; level < settings->level_count; level++) {
        const struct flow flow =
            level == 0 ? first : lower_level(results, level, split ? side : CACHE_SIDES);
        time.level_cycles[level] = reach * settings->levels[level].latency;
        time.cycles += time.level_cycles[level];
        reach *= flow.references > 0 ? flow.misses / flow.references : 0;
    }
    time.memory_cycles = reach * settings->memory_latency;
    time.cycles += time.memory_cycles;
    return time;
}

struct access_time access_time_of_all(const struct cache_results *results)
{
    struct access_time all = access_time_of(results, CACHE_INSTRUCTION);
    if (!is_split(results, 0))
        return all;
    const struct access_time data = access_time_of(results, CACHE_DATA);
    const double sum = (double)all.references + (double)data.references;
    const double share = sum > 0 ? (double)data.references / sum : 0;
    for (unsigned level = 0; level < CACHE_LEVELS; level++)
        all.level_cycles[level] += share * (data.level_cycles[level] - all.level_cycles[level]);
    all.memory_cycles += share * (data.memory_cycles - all.memory_cycles);
    all.cycles += share * (data.cycles - all.cycles);
    all.references += data.references;
    return all;
}
