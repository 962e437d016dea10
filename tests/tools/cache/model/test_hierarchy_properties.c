/* What must hold for any hierarchy and any trace. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/random_hierarchy.h"
#include "tools/cache/model/hierarchy.h"
#include "tools/cache/optimum_bound.h"

#include <stdlib.h>

#include <string.h>

#define RECORDS 300u
#define RUNS    400u

static struct hierarchy *simulate(const struct hierarchy_settings *settings,
                                  const struct record *records)
{
    struct hierarchy *hierarchy = NULL;
    struct bt_error error;
    CU_ASSERT_EQUAL_FATAL(hierarchy_new(&hierarchy, settings, &error), 0);
    CU_ASSERT_EQUAL(hierarchy_put(hierarchy, records, RECORDS, &error), 0);
    CU_ASSERT_EQUAL(hierarchy_end(hierarchy, &error), 0);
    return hierarchy;
}

static bool same_level(const struct hierarchy *one, const struct hierarchy *other, unsigned level)
{
    for (unsigned processor = 0; processor < CACHE_PROCESSORS; processor++)
        for (unsigned side = 0; side < CACHE_SIDES; side++) {
            struct cache_counters a =
                hierarchy_cache_counters(one, level, (uint8_t)processor, (enum cache_side)side);
            struct cache_counters b =
                hierarchy_cache_counters(other, level, (uint8_t)processor, (enum cache_side)side);
            if (memcmp(&a, &b, sizeof a) != 0)
                return false;
        }
    return true;
}

/* A level 4 that is neither inclusive nor exclusive does not change what the others count. */
static void test_fourth_level(void)
{
    unsigned compared = 0;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct record records[RECORDS];
        struct hierarchy_settings settings;
        uint64_t state = random_seed(seed);
        random_hierarchy(&state, &settings);
        if (settings.level_count != 4 || settings.levels[3].inclusion != CACHE_NEITHER ||
            hierarchy_check(&settings, NULL) < 0)
            continue;
        random_references(&state, &settings, records, RECORDS);
        struct hierarchy *four = simulate(&settings, records);
        settings.level_count = 3;
        if (hierarchy_check(&settings, NULL) == 0) {
            struct hierarchy *three = simulate(&settings, records);
            for (unsigned level = 0; level < 3; level++)
                CU_ASSERT(same_level(three, four, level));
            hierarchy_free(three);
            compared++;
        }
        hierarchy_free(four);
    }
    CU_ASSERT(compared > 20);
}

/* Without levels above, the optimum is the same for all policies, and none misses less. */
static void test_optimum(void)
{
    unsigned beaten = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct record records[RECORDS];
        uint64_t state = random_seed(seed);
        uint64_t least = 0;
        struct hierarchy_settings settings = {.level_count = 1, .optimum = true, .seed = seed};
        settings.levels[0].sides[0] = (struct cache_settings){
            .line = 16, .ways = 1u << seed % 5, .size = (16u << seed % 5) * (1 + seed % 7)};
        for (unsigned i = 0; i < RECORDS; i++)
            records[i] = (struct record){.type = REQUEST_MEMREAD,
                                         .size = 4,
                                         .address = 16 * (uint32_t)random_below(&state, 40)};
        for (unsigned policy = 0; policy < CACHE_REPLACEMENTS; policy++) {
            settings.levels[0].sides[0].replacement = (enum cache_replacement)policy;
            struct hierarchy *hierarchy = simulate(&settings, records);
            struct cache_counters counters =
                hierarchy_cache_counters(hierarchy, 0, 0, CACHE_INSTRUCTION);
            uint64_t optimum = counters.optimum_misses[REFERENCE_READ];
            CU_ASSERT(policy == 0 || optimum == least);
            CU_ASSERT(optimum <= counters.misses[REFERENCE_READ]);
            beaten += optimum < counters.misses[REFERENCE_READ];
            least = optimum;
            hierarchy_free(hierarchy);
        }
    }
    CU_ASSERT(beaten > 300);
}

/* References with locality that differs between sets. */
static void fill_uneven(struct record *records, size_t count, uint64_t *state)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t set = (uint32_t)random_below(state, 256);
        const uint32_t tag = (uint32_t)random_below(state, 1 + random_below(state, 3 + set % 9));
        records[i] =
            (struct record){.type = REQUEST_MEMREAD, .size = 4, .address = (tag * 256 + set) * 16};
    }
}

/* The interval of the estimate contains the counted optimum nine times in ten or more, and is far
 * smaller than the misses. */
static void test_estimate(void)
{
    enum { TRACES = 100, LONG = 40000 };
    struct record *records = malloc(LONG * sizeof *records);
    unsigned within = 0;
    CU_ASSERT_FATAL(records != NULL);
    for (uint64_t seed = 1; seed <= TRACES; seed++) {
        struct hierarchy_settings settings = {.level_count = 1, .optimum = true};
        struct bt_error error;
        struct hierarchy *hierarchy;
        uint64_t state = random_seed(seed);
        settings.levels[0].sides[0] =
            (struct cache_settings){.line = 16, .ways = 3, .size = 16 * 3 * 256};
        fill_uneven(records, LONG, &state);
        CU_ASSERT_FATAL(hierarchy_new(&hierarchy, &settings, &error) == 0);
        hierarchy_put(hierarchy, records, LONG, &error);
        const struct cache_counters exact =
            hierarchy_cache_counters(hierarchy, 0, 0, CACHE_INSTRUCTION);
        hierarchy_free(hierarchy);
        settings.optimum = false;
        settings.optimum_sample = true;
        CU_ASSERT_FATAL(hierarchy_new(&hierarchy, &settings, &error) == 0);
        hierarchy_put(hierarchy, records, LONG, &error);
        const struct cache_counters sampled =
            hierarchy_cache_counters(hierarchy, 0, 0, CACHE_INSTRUCTION);
        hierarchy_free(hierarchy);
        const struct optimum_bound bound =
            optimum_bound(&settings, 0, CACHE_INSTRUCTION, &sampled, REFERENCE_READ);
        const double ratio = (double)exact.optimum_misses[REFERENCE_READ] / LONG;
        CU_ASSERT(bound.known);
        CU_ASSERT_EQUAL(sampled.misses[REFERENCE_READ], exact.misses[REFERENCE_READ]);
        CU_ASSERT(bound.error < 0.2 * ratio);
        within += bound.ratio - bound.error <= ratio && ratio <= bound.ratio + bound.error;
    }
    CU_ASSERT(within >= TRACES * 9 / 10);
    free(records);
}

static const struct test_case cases[] = {{"the optimum", test_optimum},
                                         {"its estimate", test_estimate},
                                         {"a fourth level", test_fourth_level},
                                         {NULL, NULL}};
TEST_SUITE(hierarchy_properties, cases)
