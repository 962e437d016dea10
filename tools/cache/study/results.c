#include "tools/cache/study/results.h"

#include <stdlib.h>
#include <string.h>

static bool is_agent(const struct hierarchy_settings *settings, unsigned level)
{
    return settings->coherence != CACHE_INCOHERENT && !settings->levels[level].shared &&
           (level + 1 == settings->level_count || settings->levels[level + 1].shared);
}

int cache_results_take(struct cache_results *results, const struct hierarchy *hierarchy,
                       const struct hierarchy_settings *settings, struct bt_error *error)
{
    *results = (struct cache_results){.settings = *settings};
    results->settings.coherence = hierarchy_coherence(hierarchy);
    settings = &results->settings;
    results->caches =
        calloc(CACHE_LEVELS * CACHE_PROCESSORS * CACHE_SIDES, sizeof *results->caches);
    if (!results->caches)
        return bt_fail(error, BT_MEMORY, "no memory for the results");
    for (unsigned level = 0; level < settings->level_count; level++) {
        const struct cache_level *kind = &settings->levels[level];
        for (unsigned processor = 0; processor < CACHE_PROCESSORS; processor++) {
            if (kind->shared ? processor > 0
                             : !hierarchy_has_processor(hierarchy, (uint8_t)processor))
                continue;
            for (unsigned side = 0; side < (kind->split ? CACHE_SIDES : 1u); side++)
                results->caches[results->cache_count++] = (struct cache_result){
                    .level = level,
                    .processor = kind->shared ? RESULT_ALL : (int)processor,
                    .side = (enum cache_side)side,
                    .agent = is_agent(settings, level),
                    .counters = hierarchy_cache_counters(hierarchy, level, (uint8_t)processor,
                                                         (enum cache_side)side)};
        }
    }
    hierarchy_counters(hierarchy, &results->counters);
    const int result = hierarchy_lines(hierarchy, &results->lines, &results->line_count, error);
    return result < 0 ? result
                      : hierarchy_accesses(hierarchy, &results->accesses, &results->access_count,
                                           &results->accesses_least, error);
}

/* Merges two disjoint lists of lines. */
static int add_lines(struct cache_results *results, const struct cache_results *more,
                     struct bt_error *error)
{
    size_t count = results->line_count + more->line_count;
    struct cache_line_counters *lines = calloc(count + 1, sizeof *lines);
    if (!lines)
        return bt_fail(error, BT_MEMORY, "no memory for a list of lines");
    size_t a = 0;
    size_t b = 0;
    for (size_t i = 0; i < count; i++) {
        bool first = b == more->line_count || (a < results->line_count &&
                                               results->lines[a].address < more->lines[b].address);
        lines[i] = first ? results->lines[a++] : more->lines[b++];
    }
    free(results->lines);
    results->lines = lines;
    results->line_count = count;
    return 0;
}

/* Merges the accesses of disjoint lists of lines. */
static int add_accesses(struct cache_results *results, const struct cache_results *more,
                        struct bt_error *error)
{
    const size_t count = results->access_count + more->access_count;
    if (more->accesses_least > results->accesses_least)
        results->accesses_least = more->accesses_least;
    if (more->access_count == 0)
        return 0;
    struct line_access *rows = realloc(results->accesses, count * sizeof *rows);
    if (!rows)
        return bt_fail(error, BT_MEMORY, "no memory for the accesses of lines");
    memcpy(rows + results->access_count, more->accesses, more->access_count * sizeof *rows);
    qsort(rows, count, sizeof *rows, line_access_compare);
    results->accesses = rows;
    results->access_count = count;
    return 0;
}

int cache_results_add(struct cache_results *results, const struct cache_results *more,
                      struct bt_error *error)
{
    for (size_t i = 0; i < results->cache_count && i < more->cache_count; i++)
        cache_counters_add(&results->caches[i].counters, &more->caches[i].counters);
    hierarchy_counters_add(&results->counters, &more->counters);
    intervals_sum(&results->intervals, more->intervals.intervals, more->intervals.count);
    const int result = add_lines(results, more, error);
    return result < 0 ? result : add_accesses(results, more, error);
}

struct cache_counters cache_results_sum(const struct cache_results *results, unsigned level,
                                        enum cache_side side)
{
    struct cache_counters sum;
    memset(&sum, 0, sizeof sum);
    for (size_t i = 0; i < results->cache_count; i++)
        if (results->caches[i].level == level && results->caches[i].side == side)
            cache_counters_add(&sum, &results->caches[i].counters);
    return sum;
}

void cache_results_clear(struct cache_results *results)
{
    free(results->caches);
    free(results->lines);
    free(results->accesses);
    intervals_clear(&results->intervals);
    results->caches = NULL;
    results->lines = NULL;
    results->accesses = NULL;
}
