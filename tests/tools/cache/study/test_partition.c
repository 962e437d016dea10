/* Simulations of several threads against one thread: random hierarchies and traces, in batches of
 * any size, more records than a block has, with and without a warm-up. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/random_hierarchy.h"
#include "tools/cache/study/simulation.h"

#include <stdlib.h>
#include <string.h>

#define SHORT_RECORDS 2000u
#define LONG_RECORDS  150000u /* some blocks for each part */

static struct cache_results simulate(const struct hierarchy_settings *settings, unsigned threads,
                                     const struct extent *warm, struct record *records,
                                     size_t count, uint64_t seed)
{
    const struct extent none = {.unit = EXTENT_NONE};
    const struct phases phases = phases_begin(warm, &none);
    uint64_t random = random_seed(seed);
    struct simulation *simulation;
    struct cache_results results;
    struct bt_error error;
    CU_ASSERT_EQUAL_FATAL(simulation_new(&simulation, settings, threads, NULL, &error), 0);
    simulation_divide(simulation, &phases);
    for (size_t i = 0, now; i < count; i += now) {
        now = 1 + random_below(&random, 1 + count / 5);
        now = now < count - i ? now : count - i;
        struct batch batch = {.records = records + i, .count = now};
        CU_ASSERT_EQUAL_FATAL(sink_put(simulation_sink(simulation), &batch, &error), 0);
    }
    CU_ASSERT_EQUAL_FATAL(simulation_end(simulation, &results, &error), 0);
    simulation_free(simulation);
    return results;
}

static bool same(const struct cache_results *one, const struct cache_results *several)
{
    bool equal = one->cache_count == several->cache_count &&
                 one->line_count == several->line_count &&
                 one->settings.coherence == several->settings.coherence &&
                 memcmp(&one->counters, &several->counters, sizeof one->counters) == 0;
    for (size_t i = 0; equal && i < one->cache_count; i++)
        equal = one->caches[i].level == several->caches[i].level &&
                one->caches[i].processor == several->caches[i].processor &&
                one->caches[i].side == several->caches[i].side &&
                one->caches[i].agent == several->caches[i].agent &&
                memcmp(&one->caches[i].counters, &several->caches[i].counters,
                       sizeof one->caches[i].counters) == 0;
    return equal && (one->line_count == 0 ||
                     memcmp(one->lines, several->lines, one->line_count * sizeof *one->lines) == 0);
}

/* Returns whether the hierarchy can be divided. */
static bool try_one(uint64_t seed, struct record *records, size_t count, unsigned *failed)
{
    struct hierarchy_settings settings;
    uint64_t random = random_seed(seed);
    random_hierarchy(&random, &settings);
    settings.classify = false;
    if (hierarchy_check(&settings, NULL) < 0 || hierarchy_check_parts(&settings, NULL) < 0)
        return false;
    random_references(&random, &settings, records, count);
    const struct extent warm = {.length = random_below(&random, count),
                                .unit = random_one_in(&random, 2) ? EXTENT_NONE : EXTENT_REQUESTS};
    struct cache_results one = simulate(&settings, 1, &warm, records, count, seed);
    struct cache_results several = simulate(&settings, 2 + (unsigned)random_below(&random, 4),
                                            &warm, records, count, seed + 1);
    *failed += !same(&one, &several);
    cache_results_clear(&one);
    cache_results_clear(&several);
    return true;
}

static void try_all(uint64_t first, unsigned wanted, size_t count)
{
    struct record *records = malloc(count * sizeof *records);
    unsigned failed = 0, divided = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(records);
    for (uint64_t seed = first; divided < wanted && seed < first + 100000; seed++)
        divided += try_one(seed, records, count, &failed);
    CU_ASSERT_EQUAL(divided, wanted);
    CU_ASSERT_EQUAL(failed, 0);
    free(records);
}

static void test_short(void)
{
    try_all(1, 150, SHORT_RECORDS);
}

static void test_long(void)
{
    try_all(500000, 8, LONG_RECORDS);
}

/* A direct-mapped cache, and one whose accesses are counted, have one thread and a reason. */
static void test_one_thread(void)
{
    struct hierarchy_settings settings = {.level_count = 1};
    settings.levels[0].sides[0] = (struct cache_settings){.size = 4096, .line = 32, .ways = 1};
    CU_ASSERT_PTR_NOT_NULL(simulation_one_thread(&settings));
    settings.levels[0].sides[0].ways = 2;
    CU_ASSERT_PTR_NULL(simulation_one_thread(&settings));
    settings.accesses = true;
    CU_ASSERT_PTR_NOT_NULL(simulation_one_thread(&settings));
}

static const struct test_case cases[] = {{"several threads equal one", test_short},
                                         {"many blocks", test_long},
                                         {"one thread where more do not help", test_one_thread},
                                         {NULL, NULL}};
TEST_SUITE(partition, cases)
