/* Counters of sweeps against single simulations, and of divided simulations against whole ones. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/cache/study/results.h"
#include "tools/cache/study/simulation.h"
#include "tools/cache/study/sweep.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS 4000u
#define RUNS    24u

/* References of several processors in a small range; some cross lines or 2^32. */
static void fill(struct record *records, size_t count, uint64_t *random)
{
    static const uint8_t types[] = {REQUEST_FETCH,      REQUEST_FETCH,    REQUEST_MEMREAD,
                                    REQUEST_MEMREADINV, REQUEST_MEMWRITE, REQUEST_IOREAD};
    uint32_t range = 1u << (8 + random_below(random, 8));
    uint32_t base = random_one_in(random, 4) ? 0u - range / 2 : random_next32(random);
    uint32_t address = base;
    for (size_t i = 0; i < count; i++) {
        address = random_one_in(random, 3) ? base + (uint32_t)random_below(random, range)
                                           : address + (uint32_t)random_below(random, 32);
        records[i] = (struct record){.address = address,
                                     .type = types[random_below(random, sizeof types)],
                                     .size = (uint8_t)(random_one_in(random, 8)
                                                           ? random_below(random, 256)
                                                           : 1u << random_below(random, 6)),
                                     .attribute = (uint8_t)random_below(random, 4),
                                     .processor = (uint8_t)random_below(random, 3)};
    }
}

static struct hierarchy_settings random_settings(uint64_t *random)
{
    struct hierarchy_settings settings = {.level_count = 1};
    struct cache_level *level = &settings.levels[0];
    level->split = random_one_in(random, 2);
    level->shared = random_one_in(random, 2);
    settings.no_flush = random_one_in(random, 2);
    for (unsigned side = 0; side < CACHE_SIDES; side++)
        level->sides[side] = (struct cache_settings){.size = 1024,
                                                     .line = 16,
                                                     .ways = 2,
                                                     .write_through = random_one_in(random, 4),
                                                     .no_write_allocate = random_one_in(random, 8)};
    return settings;
}

static void put(struct sink *sink, struct record *records, size_t count)
{
    struct bt_error error;
    size_t half = count / 2;
    struct batch batch = {.records = records, .count = half};
    CU_ASSERT_EQUAL(sink_put(sink, &batch, &error), 0);
    batch.records += half;
    batch.count = count - half;
    CU_ASSERT_EQUAL(sink_put(sink, &batch, &error), 0);
}

/* Simulates one point of a sweep separately. */
static void check_point(const struct hierarchy_settings *all, const struct sweep_point *point,
                        struct record *records, size_t count)
{
    struct hierarchy_settings settings = *all;
    struct simulation *simulation;
    struct cache_results results;
    struct bt_error error;
    for (unsigned side = 0; side < CACHE_SIDES; side++) {
        settings.levels[0].sides[side].size = point->size;
        settings.levels[0].sides[side].line = point->line;
        settings.levels[0].sides[side].ways = point->ways;
    }
    CU_ASSERT_EQUAL_FATAL(simulation_new(&simulation, &settings, 1, NULL, &error), 0);
    put(simulation_sink(simulation), records, count);
    CU_ASSERT_EQUAL_FATAL(simulation_end(simulation, &results, &error), 0);
    for (unsigned side = 0; side < (settings.levels[0].split ? CACHE_SIDES : 1u); side++) {
        struct cache_counters sum = cache_results_sum(&results, 0, (enum cache_side)side);
        CU_ASSERT_EQUAL(memcmp(&sum, &point->sides[side], sizeof sum), 0);
    }
    cache_results_clear(&results);
    simulation_free(simulation);
}

/* Compares all caches of a sweep; all of the combinations. */
static void sweep_once(uint64_t seed, const char *text, unsigned all, struct sweep_settings how)
{
    static struct record records[RECORDS];
    uint64_t random = random_seed(seed);
    const struct sweep_point *points;
    unsigned count;
    struct sweep_axes axes;
    struct sweep *sweep;
    struct bt_error error;
    fill(records, RECORDS, &random);
    struct hierarchy_settings settings = random_settings(&random);
    CU_ASSERT_EQUAL(sweep_axes_parse(&axes, text, &error), 0);
    how.hierarchy = &settings;
    how.axes = &axes;
    CU_ASSERT_EQUAL_FATAL(sweep_new(&sweep, &how, &error), 0);
    put(sweep_sink(sweep), records, RECORDS);
    CU_ASSERT_EQUAL_FATAL(sweep_end(sweep, &error), 0);
    points = sweep_points(sweep, &count);
    CU_ASSERT_EQUAL(count + sweep_left_out(sweep, NULL), all);
    for (unsigned i = 0; i < count; i++)
        check_point(&settings, &points[i], records, RECORDS);
    sweep_free(sweep);
}

static void test_sweep(void)
{
    for (uint64_t seed = 0; seed < RUNS; seed++)
        sweep_once(seed, "size=64..16K,384,ways=1..4,3,full,line=8,32", 2 * 5 * 10,
                   (struct sweep_settings){.threads = 1 + (unsigned)(seed % 3),
                                           .together = seed % 8 != 0});
}

/* Stacks in each form that the processor can use. */
static void test_wide(void)
{
    for (uint64_t seed = 0; seed < 3 * (uint64_t)RUNS; seed++)
        sweep_once(seed / 3 + 1000, "size=512..32K,640,1536,1792,ways=1..16,5,7,12,14,line=16..64",
                   3 * 9 * 10,
                   (struct sweep_settings){.threads = 1 + (unsigned)(seed / 3 % 3),
                                           .together = true,
                                           .fastest = seed % 3});
}

/* A cache of lines of a byte, whose last is the address space's last byte. */
static void test_last_byte(void)
{
    struct record record = {.address = UINT32_MAX, .type = REQUEST_MEMREAD, .size = 1};
    const struct batch batch = {.records = &record, .count = 1};
    struct hierarchy_settings settings = {.level_count = 1};
    struct sweep_axes axes;
    struct sweep *sweep;
    struct bt_error error;
    unsigned count;
    settings.levels[0].sides[0] = (struct cache_settings){.size = 16, .line = 1, .ways = 1};
    CU_ASSERT_EQUAL(sweep_axes_parse(&axes, "size=16,32", &error), 0);
    const struct sweep_settings how = {
        .hierarchy = &settings, .axes = &axes, .threads = 1, .together = true};
    CU_ASSERT_EQUAL_FATAL(sweep_new(&sweep, &how, &error), 0);
    CU_ASSERT_EQUAL(sink_put(sweep_sink(sweep), &batch, &error), 0);
    CU_ASSERT_EQUAL(sweep_end(sweep, &error), 0);
    const struct sweep_point *points = sweep_points(sweep, &count);
    CU_ASSERT_EQUAL_FATAL(count, 2);
    CU_ASSERT_EQUAL(points[0].sides[0].misses[REFERENCE_READ], 1);
    CU_ASSERT_EQUAL(points[1].sides[0].misses[REFERENCE_READ], 1);
    sweep_free(sweep);
}

static void refused_axes(const char *text, const char *message)
{
    struct sweep_axes axes;
    struct bt_error error = {.code = 0};
    CU_ASSERT_EQUAL(sweep_axes_parse(&axes, text, &error), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, message);
}

static void test_axes(void)
{
    struct sweep_axes axes;
    struct bt_error error;
    CU_ASSERT_EQUAL(sweep_axes_parse(&axes, "size=4K..20K,1M,ways=1,full,level=2", &error), 0);
    CU_ASSERT_EQUAL(axes.size_count, 4);
    CU_ASSERT_EQUAL(axes.sizes[2], 16384);
    CU_ASSERT_EQUAL(axes.sizes[3], 1u << 20);
    CU_ASSERT_EQUAL(axes.ways_count, 2);
    CU_ASSERT_EQUAL(axes.ways[1], 0);
    CU_ASSERT_EQUAL(axes.line_count, 0);
    CU_ASSERT_EQUAL(axes.level, 1);
    refused_axes("size=8K..4K", "size can go from 1 up to more, not from 8K to 4K");
    refused_axes("level=5", "level can be 1 to 4");
    refused_axes("1K", "a sweep is over size, line and ways, 'size=4K..1M,ways=1..8,line=32,64' "
                       "for instance, and perhaps of level=2; '1K' is not that");
}

/* The results of one simulation of all records. */
static void simulate(const struct hierarchy_settings *settings, unsigned threads,
                     struct record *records, struct cache_results *results)
{
    struct simulation *simulation;
    struct bt_error error;
    CU_ASSERT_EQUAL_FATAL(simulation_new(&simulation, settings, threads, NULL, &error), 0);
    put(simulation_sink(simulation), records, RECORDS);
    CU_ASSERT_EQUAL_FATAL(simulation_end(simulation, results, &error), 0);
    simulation_free(simulation);
}

/* Compares the counters of two results and frees both. */
static void compare(struct cache_results results[2])
{
    CU_ASSERT_EQUAL_FATAL(results[0].cache_count, results[1].cache_count);
    for (size_t i = 0; i < results[0].cache_count; i++)
        CU_ASSERT_EQUAL(memcmp(&results[0].caches[i].counters, &results[1].caches[i].counters,
                               sizeof results[0].caches[i].counters),
                        0);
    CU_ASSERT_EQUAL(memcmp(&results[0].counters, &results[1].counters, sizeof results[0].counters),
                    0);
    cache_results_clear(&results[0]);
    cache_results_clear(&results[1]);
}

/* The counters of a simulation after a warm-up. */
static void simulate_warm(const struct hierarchy_settings *settings, unsigned threads,
                          struct record *records, const struct extent *warm,
                          struct cache_results *results)
{
    const struct extent none = {.unit = EXTENT_NONE};
    const struct phases phases = phases_begin(warm, &none);
    struct simulation *simulation;
    struct bt_error error;
    CU_ASSERT_EQUAL_FATAL(simulation_new(&simulation, settings, threads, NULL, &error), 0);
    simulation_divide(simulation, &phases);
    put(simulation_sink(simulation), records, RECORDS);
    CU_ASSERT_EQUAL_FATAL(simulation_end(simulation, results, &error), 0);
    simulation_free(simulation);
}

/* A warm-up moves no later count: with the counts of its records alone it makes those of all. */
static void test_warm_up(void)
{
    struct record *records = calloc(RECORDS, sizeof *records);
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        uint64_t random = random_seed(seed + 300);
        struct hierarchy_settings settings = random_settings(&random);
        settings.no_flush = true; /* the first records alone would write back their lines */
        fill(records, RECORDS, &random);
        const struct extent warm = {EXTENT_REQUESTS, 1 + random_below(&random, RECORDS - 1)};
        struct hierarchy *first;
        struct cache_results results[2], before;
        struct bt_error error;
        CU_ASSERT_EQUAL_FATAL(hierarchy_new(&first, &settings, &error), 0);
        CU_ASSERT_EQUAL(hierarchy_put(first, records, warm.length, &error), 0);
        CU_ASSERT_EQUAL(cache_results_take(&before, first, &settings, &error), 0);
        hierarchy_free(first);
        simulate(&settings, 1, records, &results[0]);
        simulate_warm(&settings, 1 + (unsigned)(seed % 2), records, &warm, &results[1]);
        CU_ASSERT_EQUAL(results[1].warm_records, warm.length);
        CU_ASSERT_FALSE(results[1].all_warm);
        CU_ASSERT(before.cache_count <= results[1].cache_count);
        for (size_t i = 0; i < before.cache_count; i++)
            for (size_t k = 0; k < results[1].cache_count; k++)
                if (before.caches[i].processor == results[1].caches[k].processor &&
                    before.caches[i].side == results[1].caches[k].side)
                    cache_counters_add(&results[1].caches[k].counters, &before.caches[i].counters);
        hierarchy_counters_add(&results[1].counters, &before.counters);
        cache_results_clear(&before);
        compare(results);
    }
    free(records);
}

/* A trace that ends within the warm-up has no counts. */
static void test_all_warm(void)
{
    struct record *records = calloc(RECORDS, sizeof *records);
    uint64_t random = random_seed(7);
    const struct hierarchy_settings settings = random_settings(&random);
    const struct extent warm = {EXTENT_REQUESTS, RECORDS};
    struct cache_results results;
    fill(records, RECORDS, &random);
    simulate_warm(&settings, 1, records, &warm, &results);
    CU_ASSERT(results.all_warm);
    CU_ASSERT_EQUAL(results.warm_records, RECORDS);
    CU_ASSERT_EQUAL(results.counters.records, 0);
    for (size_t i = 0; i < results.cache_count; i++)
        CU_ASSERT_EQUAL(results.caches[i].counters.misses[REFERENCE_READ], 0);
    cache_results_clear(&results);
    free(records);
}

/* The points of a sweep after a warm-up are those of single simulations. */
static void test_warm_sweep(void)
{
    struct record *records = calloc(RECORDS, sizeof *records);
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        uint64_t random = random_seed(seed + 500);
        struct hierarchy_settings settings = random_settings(&random);
        struct sweep_axes axes;
        struct sweep *sweep;
        struct bt_error error;
        unsigned count;
        const struct extent warm = {EXTENT_REQUESTS, 1 + random_below(&random, RECORDS - 1)};
        fill(records, RECORDS, &random);
        CU_ASSERT_EQUAL(sweep_axes_parse(&axes, "size=512..4K,ways=1,4,line=16,64", &error), 0);
        const struct sweep_settings how = {
            .hierarchy = &settings, .axes = &axes, .threads = 2, .together = seed % 4 != 0};
        CU_ASSERT_EQUAL_FATAL(sweep_new(&sweep, &how, &error), 0);
        sweep_warm(sweep, &warm);
        put(sweep_sink(sweep), records, RECORDS);
        CU_ASSERT_EQUAL_FATAL(sweep_end(sweep, &error), 0);
        CU_ASSERT_EQUAL(sweep_records(sweep), RECORDS - warm.length);
        const struct sweep_point *points = sweep_points(sweep, &count);
        CU_ASSERT_EQUAL(count, 16);
        for (unsigned i = 0; i < count; i++) {
            struct hierarchy_settings one = settings;
            struct cache_results results;
            for (unsigned side = 0; side < CACHE_SIDES; side++) {
                one.levels[0].sides[side].size = points[i].size;
                one.levels[0].sides[side].line = points[i].line;
                one.levels[0].sides[side].ways = points[i].ways;
            }
            simulate_warm(&one, 1, records, &warm, &results);
            for (unsigned side = 0; side < (one.levels[0].split ? 2u : 1u); side++) {
                const struct cache_counters sum =
                    cache_results_sum(&results, 0, (enum cache_side)side);
                CU_ASSERT_EQUAL(memcmp(&sum, &points[i].sides[side], sizeof sum), 0);
            }
            cache_results_clear(&results);
        }
        sweep_free(sweep);
    }
    free(records);
}

/* Intervals add up to the whole, before the write-backs of the end. */
static void test_intervals(void)
{
    struct record *records = calloc(RECORDS, sizeof *records);
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        uint64_t random = random_seed(seed + 900);
        struct hierarchy_settings settings = random_settings(&random);
        const struct extent none = {.unit = EXTENT_NONE};
        const struct extent interval = {EXTENT_REQUESTS, 1 + random_below(&random, 900)};
        const struct phases phases = phases_begin(&none, &interval);
        struct simulation *simulation;
        struct cache_results results;
        struct bt_error error;
        uint64_t counted = 0, references = 0, misses = 0, memory = 0;
        settings.no_flush = true;
        fill(records, RECORDS, &random);
        CU_ASSERT_EQUAL_FATAL(simulation_new(&simulation, &settings, 2, NULL, &error), 0);
        simulation_divide(simulation, &phases);
        put(simulation_sink(simulation), records, RECORDS);
        CU_ASSERT_EQUAL_FATAL(simulation_end(simulation, &results, &error), 0);
        simulation_free(simulation);
        for (size_t i = 0; i < results.intervals.count; i++) {
            const struct interval *one = &results.intervals.intervals[i];
            CU_ASSERT_EQUAL(one->first_record, i * interval.length);
            counted += one->records;
            memory += one->memory_references;
            for (unsigned side = 0; side < CACHE_SIDES; side++) {
                references += one->levels[0][side].references;
                misses += one->levels[0][side].misses;
            }
        }
        for (unsigned kind = 0; kind < REFERENCE_KINDS; kind++) {
            memory -= results.counters.memory_references[kind] + results.counters.uncached[kind];
            for (size_t i = 0; i < results.cache_count; i++) {
                references -= results.caches[i].counters.references[kind];
                misses -= results.caches[i].counters.misses[kind];
            }
        }
        CU_ASSERT_EQUAL(counted, RECORDS);
        CU_ASSERT_EQUAL(references, 0);
        CU_ASSERT_EQUAL(misses, 0);
        CU_ASSERT_EQUAL(memory, 0);
        cache_results_clear(&results);
    }
    free(records);
}

/* The same simulation by several threads. */
static void test_parts(void)
{
    static struct record records[RECORDS];
    for (uint64_t seed = 100; seed < 100 + RUNS; seed++) {
        uint64_t random = random_seed(seed);
        fill(records, RECORDS, &random);
        struct hierarchy_settings settings = random_settings(&random);
        settings.coherence = settings.levels[0].shared ? CACHE_INCOHERENT : CACHE_MOESI;
        settings.levels[0].sides[0].no_write_allocate = settings.levels[0].sides[0].write_through =
            false;
        settings.levels[0].sides[1] = settings.levels[0].sides[0];
        settings.honour_attributes = random_one_in(&random, 2);
        settings.level_count = 2;
        settings.levels[1] = (struct cache_level){
            .shared = true,
            .inclusion = random_one_in(&random, 2) ? CACHE_INCLUSIVE : CACHE_NEITHER,
            .sides[0] = {.size = 3072, .line = 32, .ways = 3, .replacement = CACHE_RANDOM}};
        struct cache_results results[2];
        simulate(&settings, 1, records, &results[0]);
        simulate(&settings, 3, records, &results[1]);
        CU_ASSERT_EQUAL_FATAL(results[0].line_count, results[1].line_count);
        CU_ASSERT_EQUAL(memcmp(results[0].lines, results[1].lines,
                               results[0].line_count * sizeof *results[0].lines),
                        0);
        compare(results);
    }
}

/* Plain settings, which the engine has a fast path for. */
static struct hierarchy_settings plain_settings(uint64_t *random)
{
    struct hierarchy_settings settings = {.level_count = 1 + (unsigned)random_below(random, 3)};
    bool shared = random_one_in(random, 4);
    for (unsigned i = 0; i < settings.level_count; i++) {
        struct cache_level *level = &settings.levels[i];
        level->split = i == 0 && random_one_in(random, 2);
        level->shared = shared || i > 0;
        for (unsigned side = 0; side < CACHE_SIDES; side++) {
            uint32_t ways = 1u << random_below(random, 3);
            level->sides[side] = (struct cache_settings){
                .size = (uint64_t)(256u << (2 * i)) * ways, .line = i ? 32 : 16, .ways = ways};
        }
    }
    if (!shared)
        settings.coherence = (enum cache_coherence)random_below(random, 4);
    return settings;
}

/* The fast path does not honour attributes; here they have no effect. */
static void test_fast_paths(void)
{
    static struct record records[RECORDS];
    for (uint64_t seed = 200; seed < 200 + 10 * RUNS; seed++) {
        uint64_t random = random_seed(seed);
        struct cache_results results[2];
        fill(records, RECORDS, &random);
        for (size_t i = 0; i < RECORDS; i++)
            records[i].attribute = ATTRIBUTE_WRITE_BACK;
        struct hierarchy_settings settings = plain_settings(&random);
        simulate(&settings, 1, records, &results[0]);
        settings.honour_attributes = true;
        simulate(&settings, 1, records, &results[1]);
        compare(results);
    }
}

static const struct test_case cases[] = {{"sweeps equal single runs", test_sweep},
                                         {"stacks in both forms", test_wide},
                                         {"the last byte", test_last_byte},
                                         {"axes", test_axes},
                                         {"several threads equal one", test_parts},
                                         {"fast paths equal the general one", test_fast_paths},
                                         {"a warm-up moves no later count", test_warm_up},
                                         {"a trace that ends within the warm-up", test_all_warm},
                                         {"sweeps after a warm-up", test_warm_sweep},
                                         {"intervals add up", test_intervals},
                                         {NULL, NULL}};
TEST_SUITE(cache_sweep, cases)
