/* Curves of simulated caches against hierarchies of `bustap cache`, one for each size; those of LRU
 * against the stack. */
#include "tools/mrc/simulated.h"

#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/mrc/curve.h"
#include "tools/mrc/sample.h"

#include <math.h>

#define CASES       150u
#define RECORDS     1500u
#define PROCESSORS  3u
#define PARTS_MAX   3u
#define MANY        200000u
#define MANY_LINES  20000u
#define SAMPLE_RATE 4u

/* Records of a hot and a cold region, with all kinds of references and some of two lines. */
static void fill(struct record *records, uint64_t *random)
{
    static const uint8_t types[] = {REQUEST_FETCH, REQUEST_MEMREAD, REQUEST_MEMREADINV,
                                    REQUEST_MEMWRITE, REQUEST_DEFERREPLY};
    const uint64_t hot = 64 + random_below(random, 3000);
    for (size_t i = 0; i < RECORDS; i++)
        records[i] = (struct record){.address = (uint32_t)(random_one_in(random, 4)
                                                               ? random_below(random, 20 * hot)
                                                               : random_below(random, hot)),
                                     .type = types[random_below(random, sizeof types)],
                                     .size = (uint8_t)(1u << random_below(random, 4)),
                                     .processor = (uint8_t)random_below(random, PROCESSORS)};
}

static struct mrc_study *run(const struct mrc_study_settings *settings, struct record *records,
                             size_t count)
{
    const struct batch batch = {.records = records, .count = count};
    struct mrc_study *study = mrc_study_new(settings, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(study);
    CU_ASSERT_EQUAL_FATAL(mrc_study_put(study, &batch, NULL), 0);
    return study;
}

/* A study with the misses of simulated caches, counted in several parts. */
static struct mrc_study *simulate(const struct mrc_study_settings *settings, unsigned steps,
                                  unsigned count, struct record *records, size_t record_count)
{
    struct mrc_study *parts[PARTS_MAX];
    struct simulated_sizes all;
    struct mrc_study *study = run(settings, records, record_count);
    mrc_study_choose_sizes(study, steps, &all);
    for (unsigned part = 0; part < count; part++) {
        struct simulated_sizes some = {.count = 0};
        struct mrc_study_settings of_part = *settings;
        for (unsigned i = part; i < all.count; i += count) {
            some.ways[some.count] = all.ways[i];
            some.followed[some.count++] = all.followed[i];
        }
        of_part.kind = BANK_SIMULATED;
        of_part.sizes = &some;
        parts[part] = run(&of_part, records, record_count);
    }
    CU_ASSERT_EQUAL_FATAL(
        mrc_study_take_simulated(study, &all, (const struct mrc_study *const *)parts, count, NULL),
        0);
    for (unsigned part = 0; part < count; part++)
        mrc_study_free(parts[part]);
    return study;
}

static struct mrc_study_settings random_settings(uint64_t *random)
{
    return (struct mrc_study_settings){
        .kind = BANK_DISTANCES,
        .line_bytes = 1u << random_below(random, 7),
        .sets = random_one_in(random, 2) ? 1 : 1u << random_below(random, 4),
        .by_processor = random_one_in(random, 2),
        .split = random_one_in(random, 2),
        .by_kind = random_one_in(random, 2),
        .sample = SAMPLE_ALL,
        .replacement = (enum cache_replacement)random_below(random, CACHE_REPLACEMENTS)};
}

/* The hierarchy that has a study's caches with this number of ways. */
static struct hierarchy *make_hierarchy(const struct mrc_study_settings *settings, uint64_t ways)
{
    const struct cache_settings cache = {.size = settings->line_bytes * settings->sets * ways,
                                         .line = settings->line_bytes,
                                         .ways = (uint32_t)ways,
                                         .replacement = settings->replacement};
    const struct hierarchy_settings wanted = {.level_count = 1,
                                              .levels = {{.split = settings->split,
                                                          .shared = !settings->by_processor,
                                                          .sides = {cache, cache}}}};
    struct hierarchy *hierarchy;
    CU_ASSERT_EQUAL_FATAL(hierarchy_new(&hierarchy, &wanted, NULL), 0);
    return hierarchy;
}

/* The misses that a hierarchy counts for a series. */
static uint64_t misses_of(const struct hierarchy *hierarchy,
                          const struct mrc_study_settings *settings, unsigned number)
{
    const unsigned kinds = settings->by_kind ? REFERENCE_KINDS : 1;
    const unsigned sides = settings->split ? 2 : 1;
    const unsigned cache = number / kinds;
    const struct cache_counters counters = hierarchy_cache_counters(
        hierarchy, 0, (uint8_t)(cache / sides), cache % sides ? CACHE_DATA : CACHE_INSTRUCTION);
    uint64_t misses = 0;
    for (unsigned kind = 0; kind < REFERENCE_KINDS; kind++)
        misses += kinds == 1 || kind == number % kinds ? counters.misses[kind] : 0;
    return misses;
}

/* Every point of every curve is what a hierarchy of that size counts. */
static void check_points(const struct mrc_study *study, struct record *records)
{
    const struct mrc_study_settings *settings = mrc_study_settings(study);
    const struct simulated_sizes *sizes = mrc_study_sizes(study);
    for (unsigned size = 0; size < sizes->count; size++) {
        struct hierarchy *hierarchy = make_hierarchy(settings, sizes->ways[size]);
        CU_ASSERT_EQUAL(hierarchy_put(hierarchy, records, RECORDS, NULL), 0);
        for (unsigned number = 0; number < MRC_SERIES_MAX; number++) {
            struct curve curve;
            if (!mrc_study_series(study, number))
                continue;
            CU_ASSERT_EQUAL_FATAL(curve_init(&curve, study, number, NULL), 0);
            CU_ASSERT_EQUAL(curve_misses(&curve, sizes->ways[size]),
                            misses_of(hierarchy, settings, number));
            curve_free(&curve);
        }
        hierarchy_free(hierarchy);
    }
}

static void test_hierarchies(void)
{
    static struct record records[RECORDS];
    uint64_t random = random_seed(91);
    for (unsigned i = 0; i < CASES; i++) {
        const struct mrc_study_settings settings = random_settings(&random);
        const unsigned steps =
            settings.replacement == CACHE_PLRU ? 1 : 1u << random_below(&random, 3);
        fill(records, &random);
        struct mrc_study *study = simulate(
            &settings, steps, 1 + (unsigned)random_below(&random, PARTS_MAX), records, RECORDS);
        check_points(study, records);
        mrc_study_free(study);
    }
}

/* Simulated LRU caches miss as the exact curve says, and the largest holds all lines. */
static void test_stack(void)
{
    static struct record records[RECORDS];
    uint64_t random = random_seed(92);
    for (unsigned i = 0; i < CASES / 5; i++) {
        struct mrc_study_settings settings = random_settings(&random);
        struct curve exact, simulated;
        settings.replacement = CACHE_LRU;
        settings.by_processor = settings.split = settings.by_kind = false;
        fill(records, &random);
        struct mrc_study *alone = run(&settings, records, RECORDS);
        struct mrc_study *study = simulate(&settings, 4, 2, records, RECORDS);
        CU_ASSERT_EQUAL_FATAL(curve_init(&exact, alone, 0, NULL), 0);
        CU_ASSERT_EQUAL_FATAL(curve_init(&simulated, study, 0, NULL), 0);
        uint64_t last = 0;
        for (uint64_t ways = curve_next(&simulated, 0, 4); ways != 0;
             ways = curve_next(&simulated, ways, 4)) {
            CU_ASSERT_EQUAL(curve_misses(&simulated, ways), curve_misses(&exact, ways));
            last = ways;
        }
        CU_ASSERT_EQUAL(curve_misses(&simulated, last), exact.compulsory);
        curve_free(&exact);
        curve_free(&simulated);
        mrc_study_free(alone);
        mrc_study_free(study);
    }
}

/* The second reading of a trace that has changed meanwhile gives no curve. */
static void test_changed(void)
{
    static struct record records[RECORDS];
    uint64_t random = random_seed(94);
    struct mrc_study_settings settings = random_settings(&random);
    struct simulated_sizes sizes;
    struct bt_error error;
    fill(records, &random);
    struct mrc_study *study = run(&settings, records, RECORDS);
    mrc_study_choose_sizes(study, 1, &sizes);
    settings.kind = BANK_SIMULATED;
    settings.sizes = &sizes;
    struct mrc_study *part = run(&settings, records, RECORDS - 1);
    const struct mrc_study *const parts[] = {part};
    CU_ASSERT_EQUAL(mrc_study_take_simulated(study, &sizes, parts, 1, &error), BT_DATA);
    CU_ASSERT_PTR_NULL(mrc_study_sizes(study));
    mrc_study_free(part);
    mrc_study_free(study);
}

/* Most confidence intervals of a sample contain the miss ratio of all lines. */
static void test_sample(void)
{
    static struct record records[MANY];
    uint64_t random = random_seed(93);
    for (size_t i = 0; i < MANY; i++) {
        const double share = (double)(random_next(&random) >> 11) * 0x1p-53;
        records[i] = (struct record){.address = (uint32_t)(pow(share, 3) * MANY_LINES) * 64,
                                     .type = REQUEST_MEMREAD,
                                     .size = 8};
    }
    unsigned points = 0, within = 0;
    for (unsigned policy = CACHE_FIFO; policy < CACHE_REPLACEMENTS; policy++) {
        struct mrc_study_settings settings = {.line_bytes = 64,
                                              .sets = 1,
                                              .sample = SAMPLE_ALL,
                                              .replacement = (enum cache_replacement)policy};
        struct curve exact, sampled;
        struct mrc_study *all = simulate(&settings, 1, 1, records, MANY);
        settings.sample = SAMPLE_ALL / SAMPLE_RATE;
        struct mrc_study *some = simulate(&settings, 1, 1, records, MANY);
        CU_ASSERT_EQUAL_FATAL(curve_init(&exact, all, 0, NULL), 0);
        CU_ASSERT_EQUAL_FATAL(curve_init(&sampled, some, 0, NULL), 0);
        CU_ASSERT_EQUAL(curve_next(&sampled, 0, 1), SAMPLE_RATE);
        for (uint64_t lines = 64; lines != 0; lines = curve_next(&sampled, lines, 1)) {
            const struct curve_interval interval = curve_interval(&sampled, lines);
            const double ratio = curve_ratio(&exact, curve_misses(&exact, lines));
            CU_ASSERT_TRUE(interval.low <= interval.high);
            within += ratio >= interval.low && ratio <= interval.high;
            points++;
        }
        curve_free(&exact);
        curve_free(&sampled);
        mrc_study_free(all);
        mrc_study_free(some);
    }
    CU_ASSERT_TRUE(points > 50 && within >= 0.95 * points);
}

static const struct test_case cases[] = {{"hierarchies of each size", test_hierarchies},
                                         {"the exact curve", test_stack},
                                         {"a changed trace", test_changed},
                                         {"a sample", test_sample},
                                         {NULL, NULL}};
TEST_SUITE(simulated, cases)
