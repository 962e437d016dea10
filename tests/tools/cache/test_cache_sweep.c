/* Counters of sweeps against single simulations, and of divided simulations against whole ones. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/cache/results.h"
#include "tools/cache/simulation.h"
#include "tools/cache/sweep.h"

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

static void sweep_once(uint64_t seed, unsigned threads, bool together)
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
    CU_ASSERT_EQUAL(sweep_axes_parse(&axes, "size=64..16K,384,ways=1..4,3,full,line=8,32", &error),
                    0);
    struct sweep_settings how = {
        .hierarchy = &settings, .axes = &axes, .threads = threads, .together = together};
    CU_ASSERT_EQUAL_FATAL(sweep_new(&sweep, &how, &error), 0);
    put(sweep_sink(sweep), records, RECORDS);
    CU_ASSERT_EQUAL_FATAL(sweep_end(sweep, &error), 0);
    points = sweep_points(sweep, &count);
    CU_ASSERT_EQUAL(count + sweep_left_out(sweep, NULL), 2 * 5 * 10);
    for (unsigned i = 0; i < count; i++)
        check_point(&settings, &points[i], records, RECORDS);
    sweep_free(sweep);
}

static void test_sweep(void)
{
    for (uint64_t seed = 0; seed < RUNS; seed++)
        sweep_once(seed, 1 + (unsigned)(seed % 3), seed % 8 != 0);
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
    refused_axes("level=4", "level can be 1, 2 or 3");
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
                                         {"axes", test_axes},
                                         {"several threads equal one", test_parts},
                                         {"fast paths equal the general one", test_fast_paths},
                                         {NULL, NULL}};
TEST_SUITE(cache_sweep, cases)
