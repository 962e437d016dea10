/* Attributed misses against the counters of each record alone. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/cache/study/attribution.h"
#include "tools/cache/study/results.h"

#include <string.h>

#define RECORDS 3000u
#define PLACES  64u

static const struct hierarchy_settings settings = {
    .level_count = 2,
    .no_flush = true,
    .levels = {
        {.split = true,
         .sides = {{.size = 512, .line = 32, .ways = 2}, {.size = 512, .line = 32, .ways = 2}}},
        {.shared = true, .sides = {{.size = 2048, .line = 32, .ways = 2}}}}};

static void fill(struct record *records, uint64_t *random)
{
    static const uint8_t types[] = {REQUEST_FETCH, REQUEST_MEMREAD, REQUEST_MEMWRITE,
                                    REQUEST_IOREAD};
    for (unsigned i = 0; i < RECORDS; i++) {
        const uint8_t type = types[random_below(random, sizeof types)];
        records[i] = (struct record){
            .address = type == REQUEST_FETCH ? 0x1000 + (uint32_t)random_below(random, PLACES) * 4
                                             : (uint32_t)random_below(random, 0x8000),
            .type = type,
            .size = (uint8_t)(1u << random_below(random, 4)),
            .processor = (uint8_t)random_below(random, 3)};
    }
}

/* The misses of a level in all caches. */
static uint64_t level_misses(const struct hierarchy *hierarchy, unsigned level)
{
    struct cache_results results;
    struct bt_error error;
    uint64_t sum = 0;
    CU_ASSERT_EQUAL_FATAL(cache_results_take(&results, hierarchy, &settings, &error), 0);
    for (size_t i = 0; i < results.cache_count; i++)
        for (unsigned kind = 0; kind < REFERENCE_KINDS; kind++)
            if (results.caches[i].level == level)
                sum += results.caches[i].counters.misses[kind];
    cache_results_clear(&results);
    return sum;
}

/* One row for each address below 0x10000 that is a place; the last one is unknown. */
static void expect(struct attributed *expected, const struct record *records,
                   enum attribution_key key)
{
    struct hierarchy *hierarchy;
    struct bt_error error;
    uint32_t fetched[3] = {0x10000, 0x10000, 0x10000};
    CU_ASSERT_EQUAL_FATAL(hierarchy_new(&hierarchy, &settings, &error), 0);
    for (unsigned i = 0; i < RECORDS; i++) {
        const uint64_t first = level_misses(hierarchy, 0), second = level_misses(hierarchy, 1);
        CU_ASSERT_EQUAL(hierarchy_put(hierarchy, &records[i], 1, &error), 0);
        if (records[i].type == REQUEST_FETCH)
            fetched[records[i].processor] = records[i].address;
        if (records[i].type == REQUEST_IOREAD)
            continue;
        struct attributed *row =
            &expected[key == ATTRIBUTE_PAGES
                          ? records[i].address / ATTRIBUTION_PAGE_BYTES * ATTRIBUTION_PAGE_BYTES
                          : fetched[records[i].processor]];
        row->references++;
        row->misses[0] += level_misses(hierarchy, 0) - first;
        row->misses[1] += level_misses(hierarchy, 1) - second;
    }
    hierarchy_free(hierarchy);
}

static void check(enum attribution_key key, uint64_t seed)
{
    static struct attributed expected[0x10001];
    static struct record records[RECORDS];
    struct hierarchy *hierarchy;
    struct bt_error error;
    uint64_t random = random_seed(seed);
    size_t count;
    memset(expected, 0, sizeof expected);
    fill(records, &random);
    expect(expected, records, key);
    struct attribution *attribution = attribution_new(key, &error);
    CU_ASSERT_EQUAL_FATAL(hierarchy_new(&hierarchy, &settings, &error), 0);
    CU_ASSERT_EQUAL(attribution_put(attribution, hierarchy, records, RECORDS, &error), 0);
    const struct attributed *rows = attribution_rows(attribution, &count);
    uint64_t misses = attribution_unknown(attribution)->misses[0];
    for (size_t i = 0; i < count; i++) {
        const struct attributed *row = &expected[rows[i].address];
        CU_ASSERT_EQUAL(rows[i].references, row->references);
        CU_ASSERT_EQUAL(rows[i].misses[0], row->misses[0]);
        CU_ASSERT_EQUAL(rows[i].misses[1], row->misses[1]);
        misses += rows[i].misses[0];
    }
    CU_ASSERT_EQUAL(misses, level_misses(hierarchy, 0));
    CU_ASSERT_EQUAL(attribution_unknown(attribution)->references,
                    key == ATTRIBUTE_PAGES ? 0 : expected[0x10000].references);
    attribution_reset(attribution);
    attribution_rows(attribution, &count);
    CU_ASSERT_EQUAL(count, 0);
    attribution_free(attribution);
    hierarchy_free(hierarchy);
}

static void test_rows(void)
{
    for (uint64_t seed = 0; seed < 5; seed++) {
        check(ATTRIBUTE_INSTRUCTIONS, seed);
        check(ATTRIBUTE_PAGES, seed);
    }
}

static const struct test_case cases[] = {{"each record's misses", test_rows}, {NULL, NULL}};
TEST_SUITE(cache_attribution, cases)
