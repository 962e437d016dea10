/* Average access times against the sum over all references. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/cache/study/access_time.h"

#define RECORDS 3000u

static struct hierarchy_settings three_levels(bool split)
{
    struct hierarchy_settings settings = {
        .level_count = 3, .no_flush = true, .memory_latency = 200};
    for (unsigned level = 0; level < 3; level++) {
        settings.levels[level] = (struct cache_level){
            .split = split && level == 0, .shared = level > 0, .latency = 4 + 10 * level};
        for (unsigned side = 0; side < CACHE_SIDES; side++)
            settings.levels[level].sides[side] =
                (struct cache_settings){.size = (uint64_t)1024 << 2 * level, .line = 32, .ways = 2};
    }
    return settings;
}

/* Aligned references of 4 bytes: each lies in one line. */
static void run(const struct hierarchy_settings *settings, uint64_t seed,
                struct cache_results *results)
{
    static const uint8_t types[] = {REQUEST_FETCH, REQUEST_MEMREAD, REQUEST_MEMWRITE};
    struct record records[RECORDS];
    struct hierarchy *hierarchy;
    struct bt_error error;
    uint64_t random = random_seed(seed);
    for (unsigned i = 0; i < RECORDS; i++)
        records[i] =
            (struct record){.address = (uint32_t)random_below(&random, i % 5 ? 1024 : 16384) * 4,
                            .type = types[random_below(&random, 3)],
                            .size = 4,
                            .processor = (uint8_t)random_below(&random, 2)};
    CU_ASSERT_EQUAL_FATAL(hierarchy_new(&hierarchy, settings, &error), 0);
    CU_ASSERT_EQUAL(hierarchy_put(hierarchy, records, RECORDS, &error), 0);
    CU_ASSERT_EQUAL(cache_results_take(results, hierarchy, settings, &error), 0);
    hierarchy_free(hierarchy);
}

/* Every miss waits for the next level: the sum over the levels, each with what it was asked for. */
static void test_sum(void)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        const struct hierarchy_settings settings = three_levels(seed % 2);
        struct cache_results results;
        run(&settings, seed, &results);
        double sum = 0;
        for (size_t i = 0; i < results.cache_count; i++) {
            const struct cache_result *cache = &results.caches[i];
            for (unsigned kind = 0; kind < REFERENCE_KINDS; kind++)
                if (cache->level == 0 || kind != REFERENCE_WRITE) {
                    sum += (double)cache->counters.references[kind] *
                           settings.levels[cache->level].latency;
                    sum += cache->level == 2 ? (double)cache->counters.misses[kind] * 200 : 0;
                }
        }
        const struct access_time all = access_time_of_all(&results);
        CU_ASSERT_EQUAL(all.references, RECORDS);
        CU_ASSERT_DOUBLE_EQUAL(all.cycles, sum / RECORDS, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(all.cycles,
                               all.level_cycles[0] + all.level_cycles[1] + all.level_cycles[2] +
                                   all.memory_cycles,
                               1e-9);
        CU_ASSERT_EQUAL(all.level_cycles[0], 4);
        cache_results_clear(&results);
    }
}

/* Writes that do not allocate wait for nothing, and a processor that only writes never waits. */
static void test_no_allocation(void)
{
    struct hierarchy_settings settings = three_levels(false);
    struct record writes[64];
    struct hierarchy *hierarchy;
    struct cache_results results;
    struct bt_error error;
    settings.levels[0].sides[0].no_write_allocate = true;
    for (unsigned i = 0; i < 64; i++)
        writes[i] = (struct record){.address = i * 64, .type = REQUEST_MEMWRITE, .size = 4};
    CU_ASSERT_EQUAL_FATAL(hierarchy_new(&hierarchy, &settings, &error), 0);
    CU_ASSERT_EQUAL(hierarchy_put(hierarchy, writes, 64, &error), 0);
    CU_ASSERT_EQUAL(cache_results_take(&results, hierarchy, &settings, &error), 0);
    CU_ASSERT_EQUAL(access_time_of_all(&results).cycles, 4);
    hierarchy_free(hierarchy);
    cache_results_clear(&results);
}

/* Misses that the victim buffer serves do not wait for the next level. */
static void test_victim_buffer(void)
{
    struct hierarchy_settings settings = three_levels(false);
    struct record reads[40];
    struct hierarchy *hierarchy;
    struct cache_results results;
    struct bt_error error;
    settings.level_count = 1;
    settings.levels[0].sides[0] =
        (struct cache_settings){.size = 32, .line = 32, .ways = 1, .victim_lines = 1};
    for (unsigned i = 0; i < 40; i++) /* after two fills, the lines change places */
        reads[i] = (struct record){.address = i % 2 * 32, .type = REQUEST_MEMREAD, .size = 4};
    CU_ASSERT_EQUAL_FATAL(hierarchy_new(&hierarchy, &settings, &error), 0);
    CU_ASSERT_EQUAL(hierarchy_put(hierarchy, reads, 40, &error), 0);
    CU_ASSERT_EQUAL(cache_results_take(&results, hierarchy, &settings, &error), 0);
    CU_ASSERT_DOUBLE_EQUAL(access_time_of_all(&results).cycles, 4 + 200 * 2 / 40.0, 1e-9);
    hierarchy_free(hierarchy);
    cache_results_clear(&results);
}

static const struct test_case cases[] = {{"the sum over all references", test_sum},
                                         {"writes that do not allocate", test_no_allocation},
                                         {"a victim buffer", test_victim_buffer},
                                         {NULL, NULL}};
TEST_SUITE(cache_access_time, cases)
