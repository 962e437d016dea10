/* A warm-up moves no later count: the counters of its records alone, added to those after it, are
 * the counters of all records, for any hierarchy, but for its prefetches that are used or lost
 * later. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/random_hierarchy.h"
#include "tools/cache/study/simulation.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS 300u
#define RUNS    900u

static struct cache_results simulate(const struct hierarchy_settings *settings, unsigned threads,
                                     struct record *records, const struct extent *warm)
{
    const struct extent none = {.unit = EXTENT_NONE};
    const struct phases phases = phases_begin(warm, &none);
    const struct batch batch = {.records = records, .count = RECORDS};
    struct cache_results results;
    struct simulation *simulation;
    struct bt_error error;
    CU_ASSERT_EQUAL_FATAL(simulation_new(&simulation, settings, threads, NULL, &error), 0);
    simulation_divide(simulation, &phases);
    CU_ASSERT_EQUAL_FATAL(sink_put(simulation_sink(simulation), &batch, &error), 0);
    CU_ASSERT_EQUAL_FATAL(simulation_end(simulation, &results, &error), 0);
    simulation_free(simulation);
    return results;
}

/* The counters after some records, which do not end the trace: lines stay dirty. */
static struct cache_results take_first(const struct hierarchy_settings *settings,
                                       const struct record *records, size_t count)
{
    struct cache_results results = {.settings = *settings};
    struct hierarchy *hierarchy;
    struct bt_error error;
    CU_ASSERT_EQUAL_FATAL(hierarchy_new(&hierarchy, settings, &error), 0);
    CU_ASSERT_EQUAL_FATAL(hierarchy_put(hierarchy, records, count, &error), 0);
    CU_ASSERT_EQUAL_FATAL(cache_results_take(&results, hierarchy, settings, &error), 0);
    hierarchy_free(hierarchy);
    return results;
}

static struct cache_counters find_cache(const struct cache_results *results,
                                        const struct cache_result *like)
{
    for (size_t i = 0; i < results->cache_count; i++)
        if (results->caches[i].level == like->level && results->caches[i].side == like->side &&
            results->caches[i].processor == like->processor)
            return results->caches[i].counters;
    return (struct cache_counters){.split = 0};
}

/* A prefetch counts in the phase in which it was made: one of the warm-up that was used or lost
 * later counts in neither. Adds such prefetches to the earlier counters. */
static void compare_prefetches(const struct cache_counters *whole, struct cache_counters *first,
                               const struct cache_counters *later)
{
    const uint64_t settled =
        later->prefetch_covered + later->prefetch_late + later->prefetch_useless;
    CU_ASSERT(settled <= reference_kinds_sum(later->prefetch_misses));
    CU_ASSERT(first->prefetch_covered + later->prefetch_covered <= whole->prefetch_covered);
    CU_ASSERT(first->prefetch_late + later->prefetch_late <= whole->prefetch_late);
    CU_ASSERT(first->prefetch_useless + later->prefetch_useless <= whole->prefetch_useless);
    first->prefetch_covered = whole->prefetch_covered - later->prefetch_covered;
    first->prefetch_late = whole->prefetch_late - later->prefetch_late;
    first->prefetch_useless = whole->prefetch_useless - later->prefetch_useless;
}

static void compare_caches(const struct cache_results *whole, const struct cache_results *first,
                           const struct cache_results *later)
{
    CU_ASSERT_EQUAL(whole->cache_count, later->cache_count);
    CU_ASSERT(first->cache_count <= whole->cache_count);
    for (size_t i = 0; i < whole->cache_count; i++) {
        struct cache_counters sum = find_cache(first, &whole->caches[i]);
        struct cache_counters more = find_cache(later, &whole->caches[i]);
        memset(more.sample_held, 0, sizeof more.sample_held); /* says what the warm-up left */
        compare_prefetches(&whole->caches[i].counters, &sum, &more);
        cache_counters_add(&sum, &more);
        CU_ASSERT_EQUAL(memcmp(&sum, &whole->caches[i].counters, sizeof sum), 0);
    }
}

static struct cache_line_counters find_line(const struct cache_results *results, uint32_t address)
{
    for (size_t i = 0; i < results->line_count; i++)
        if (results->lines[i].address == address)
            return results->lines[i];
    return (struct cache_line_counters){.address = address};
}

static void compare_lines(const struct cache_results *whole, const struct cache_results *first,
                          const struct cache_results *later)
{
    CU_ASSERT(first->line_count <= whole->line_count && later->line_count <= whole->line_count);
    for (size_t i = 0; i < whole->line_count; i++) {
        const struct cache_line_counters line = whole->lines[i];
        const struct cache_line_counters a = find_line(first, line.address);
        const struct cache_line_counters b = find_line(later, line.address);
        CU_ASSERT_EQUAL(a.invalidations + b.invalidations, line.invalidations);
        CU_ASSERT_EQUAL(a.interventions + b.interventions, line.interventions);
        CU_ASSERT_EQUAL(a.upgrades + b.upgrades, line.upgrades);
        CU_ASSERT_EQUAL(a.write_backs + b.write_backs, line.write_backs);
        CU_ASSERT_EQUAL(a.true_sharing + b.true_sharing, line.true_sharing);
        CU_ASSERT_EQUAL(a.false_sharing + b.false_sharing, line.false_sharing);
    }
}

struct tried {
    unsigned prefetchers, coherent, optimum, sample, in_parts;
    uint64_t lines;
};

static void try_one(const struct hierarchy_settings *settings, uint64_t *state, struct tried *tried)
{
    const struct extent none = {.unit = EXTENT_NONE};
    const struct extent warm = {EXTENT_REQUESTS, 1 + random_below(state, RECORDS - 1)};
    const unsigned threads = hierarchy_check_parts(settings, NULL) == 0 ? 2 : 1;
    struct record records[RECORDS];
    random_references(state, settings, records, RECORDS);
    struct cache_results whole = simulate(settings, 1, records, &none);
    struct cache_results first = take_first(settings, records, warm.length);
    struct cache_results later = simulate(settings, threads, records, &warm);
    CU_ASSERT_EQUAL(later.warm_records, warm.length);
    compare_caches(&whole, &first, &later);
    compare_lines(&whole, &first, &later);
    hierarchy_counters_add(&first.counters, &later.counters);
    CU_ASSERT_EQUAL(memcmp(&first.counters, &whole.counters, sizeof whole.counters), 0);
    tried->prefetchers += settings->levels[0].sides[0].prefetcher != CACHE_NO_PREFETCHER;
    tried->coherent += whole.line_count > 0;
    tried->optimum += settings->optimum;
    tried->sample += settings->optimum_sample;
    tried->in_parts += threads > 1;
    tried->lines += first.line_count;
    cache_results_clear(&whole);
    cache_results_clear(&first);
    cache_results_clear(&later);
}

static void test_any_hierarchy(void)
{
    struct tried tried = {0};
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct hierarchy_settings settings;
        uint64_t state = random_seed(seed + 5000);
        random_hierarchy(&state, &settings);
        if (hierarchy_check(&settings, NULL) == 0)
            try_one(&settings, &state, &tried);
    }
    CU_ASSERT(tried.prefetchers > RUNS / 20);
    CU_ASSERT(tried.coherent > RUNS / 20);
    CU_ASSERT(tried.optimum > RUNS / 20);
    CU_ASSERT(tried.sample > RUNS / 20);
    CU_ASSERT(tried.in_parts > RUNS / 50);
    CU_ASSERT(tried.lines > RUNS);
}

static const struct test_case cases[] = {{"in any hierarchy", test_any_hierarchy}, {NULL, NULL}};
TEST_SUITE(warm_up, cases)
