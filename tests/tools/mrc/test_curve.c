#include "tools/mrc/curve.h"

#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/varied_trace.h"
#include "tools/mrc/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RECORDS = 400000, PIECE = 5000, VARIED = 24000 };

/* --- streams whose curves have all kinds of shapes --- */

#define SAMPLE_SIZE 2000u

enum shape { UNIFORM, SKEWED, LOOP, PHASES, SHAPES };

static uint32_t next_line(enum shape shape, uint64_t *random, uint32_t lines, uint32_t i)
{
    const double share = (double)(random_next(random) >> 11) * 0x1p-53;
    switch (shape) {
    case UNIFORM:
        return (uint32_t)random_below(random, lines);
    case SKEWED:
        return (uint32_t)(pow(share, 3) * lines);
    case LOOP:
        return random_one_in(random, 4) ? (uint32_t)random_below(random, lines) : i % (lines / 2);
    default:
        return i / (RECORDS / 4) * (lines / 8) + (uint32_t)(share * share * (lines / 2));
    }
}

static void make_records(struct record *records, enum shape shape, uint64_t *random)
{
    const uint32_t lines = 4000 + (uint32_t)random_below(random, 30000);
    const uint32_t base = random_next32(random) >> 8;
    for (uint32_t i = 0; i < RECORDS; i++)
        records[i] =
            (struct record){.address = (base + next_line(shape, random, lines, i)) << 6 & ~63u,
                            .type = REQUEST_MEMREAD,
                            .size = 8};
}

static struct mrc_study *run(struct record *records, size_t count, uint64_t sample,
                             uint32_t sample_lines)
{
    const struct mrc_study_settings settings = {.line_bytes = 64,
                                                .sets = 1,
                                                .sample = sample,
                                                .sample_lines = sample_lines,
                                                .kind = BANK_DISTANCES};
    struct bt_error error;
    struct mrc_study *study = mrc_study_new(&settings, 0, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(study);
    for (size_t done = 0; done < count; done += PIECE) {
        const size_t some = count - done < PIECE ? count - done : PIECE;
        struct batch batch = {.records = records + done, .count = some, .capacity = some};
        CU_ASSERT_EQUAL_FATAL(mrc_study_put(study, &batch, &error), 0);
    }
    return study;
}

static void get_curve(struct curve *curve, const struct mrc_study *study)
{
    struct bt_error error;
    CU_ASSERT_EQUAL_FATAL(curve_init(curve, study, 0, &error), 0);
}

/* The sampled curve's 95 % intervals hold the exact curve in at least this share of the sizes. */
static void check_sample(uint64_t sample, uint32_t sample_lines, double least)
{
    static struct record records[RECORDS];
    unsigned points[SHAPES] = {0};
    unsigned good[SHAPES] = {0};
    double stated = 0;
    for (uint64_t seed = 0; seed < 6 * SHAPES; seed++) {
        const enum shape shape = (enum shape)(seed % SHAPES);
        uint64_t random = random_seed(seed);
        struct curve exact;
        struct curve sampled;
        make_records(records, shape, &random);
        struct mrc_study *all = run(records, RECORDS, SAMPLE_ALL, 0);
        struct mrc_study *some = run(records, RECORDS, sample, sample_lines);
        get_curve(&exact, all);
        get_curve(&sampled, some);
        CU_ASSERT_EQUAL(exact.references, sampled.references);
        for (uint64_t lines = 1; lines != 0; lines = curve_next(&exact, lines, 8)) {
            const double is = curve_ratio(&exact, curve_misses(&exact, lines));
            const double seems = curve_ratio(&sampled, curve_misses(&sampled, lines));
            const struct curve_interval interval = curve_interval(&sampled, lines);
            CU_ASSERT(interval.low >= 0 && interval.low <= seems && seems <= interval.high &&
                      interval.high <= 1);
            points[shape]++;
            good[shape] += interval.low <= is && is <= interval.high;
            stated += lines > 2000 && lines < 4000 ? (interval.high - interval.low) / 2 : 0;
        }
        curve_free(&exact);
        curve_free(&sampled);
        mrc_study_free(all);
        mrc_study_free(some);
    }
    for (int shape = 0; shape < SHAPES; shape++)
        CU_ASSERT(good[shape] >= points[shape] * least);
    /* the intervals are narrow: mean half-width at seven sizes in 24 traces */
    CU_ASSERT(stated / (7 * 6 * SHAPES) < 0.15);
    if (getenv("CURVE_SHOW"))
        for (int shape = 0; shape < SHAPES; shape++)
            fprintf(stderr, "%d: %u of %u, %f\n", shape, good[shape], points[shape],
                    stated / (42 * SHAPES));
}

/* How many intervals of the curves of one kind of traces hold. */
struct held {
    unsigned points, good;
};

static void count_held(struct record *records, uint64_t sample, uint32_t sample_lines,
                       struct held *held)
{
    struct curve exact, sampled;
    struct mrc_study *all = run(records, VARIED, SAMPLE_ALL, 0);
    struct mrc_study *some = run(records, VARIED, sample, sample_lines);
    get_curve(&exact, all);
    get_curve(&sampled, some);
    for (uint64_t lines = 1; lines != 0; lines = curve_next(&exact, lines, 2)) {
        const double is = curve_ratio(&exact, curve_misses(&exact, lines));
        const struct curve_interval interval = curve_interval(&sampled, lines);
        held->points++;
        held->good += interval.low <= is + 1e-9 && is <= interval.high + 1e-9;
    }
    curve_free(&exact);
    curve_free(&sampled);
    mrc_study_free(all);
    mrc_study_free(some);
}

/* Of each kind of traces 95 % of the intervals hold or more, for samples of a rate and of a size.
 */
static void test_varied(void)
{
    struct record *records = malloc(VARIED * sizeof *records);
    uint32_t *lines = malloc(VARIED * sizeof *lines);
    struct held by_rate[VARIED_KINDS] = {{0, 0}}, by_size[VARIED_KINDS] = {{0, 0}};
    CU_ASSERT_FATAL(records != NULL && lines != NULL);
    for (uint64_t seed = 1; seed <= 252; seed++) {
        varied_trace(seed, 1024, 4096, lines, VARIED);
        for (size_t i = 0; i < VARIED; i++)
            records[i] =
                (struct record){.address = lines[i] * 64, .type = REQUEST_MEMREAD, .size = 4};
        count_held(records, SAMPLE_ALL / 10, 0, &by_rate[seed % VARIED_KINDS]);
        count_held(records, SAMPLE_ALL, 1000, &by_size[seed % VARIED_KINDS]);
    }
    for (unsigned kind = 0; kind < VARIED_KINDS; kind++) {
        CU_ASSERT(by_rate[kind].points > 200 && by_size[kind].points > 200);
        CU_ASSERT(by_rate[kind].good >= 0.95 * by_rate[kind].points);
        CU_ASSERT(by_size[kind].good >= 0.95 * by_size[kind].points);
    }
    free(records);
    free(lines);
}

/* A loop over N lines: no hit in a cache of fewer; N lines miss in the first round only. */
static void test_loop(void)
{
    enum { LINES = 1000, ROUNDS = 5 };
    static struct record records[LINES * ROUNDS];
    struct curve curve;
    for (uint32_t i = 0; i < LINES * ROUNDS; i++)
        records[i] = (struct record){.address = i % LINES * 64, .type = REQUEST_FETCH, .size = 64};
    struct mrc_study *study = run(records, LINES * ROUNDS, SAMPLE_ALL, 0);
    get_curve(&curve, study);
    CU_ASSERT_EQUAL(curve.references, LINES * ROUNDS);
    CU_ASSERT_EQUAL(curve.compulsory, LINES);
    CU_ASSERT_EQUAL(curve_misses(&curve, 1), LINES * ROUNDS);
    CU_ASSERT_EQUAL(curve_misses(&curve, LINES - 1), LINES * ROUNDS);
    CU_ASSERT_EQUAL(curve_misses(&curve, LINES), LINES);
    CU_ASSERT_EQUAL(curve_misses(&curve, UINT64_MAX), LINES);
    CU_ASSERT_EQUAL(curve_interval(&curve, 10).low, 1);
    CU_ASSERT_EQUAL(curve_interval(&curve, 10).high, 1);
    CU_ASSERT_EQUAL(curve_interval(&curve, LINES).low, 1.0 / ROUNDS);
    CU_ASSERT_EQUAL(curve_interval(&curve, LINES).high, 1.0 / ROUNDS);
    CU_ASSERT_EQUAL(curve_next(&curve, 0, 0), 1);
    CU_ASSERT_EQUAL(curve_next(&curve, 1, 0), LINES);
    CU_ASSERT_EQUAL(curve_next(&curve, LINES, 0), 0);
    CU_ASSERT_EQUAL(curve_next(&curve, 512, 1), 1024);
    CU_ASSERT_EQUAL(curve_next(&curve, 512, 8), 576);
    CU_ASSERT_EQUAL(curve_next(&curve, 1024, 1), 0);
    curve_free(&curve);
    mrc_study_free(study);
}

/* curve_next returns exactly the sizes at which the misses decrease. */
static void test_changes(void)
{
    static struct record records[RECORDS];
    uint64_t random = random_seed(5);
    struct curve curve;
    make_records(records, SKEWED, &random);
    struct mrc_study *study = run(records, 20000, SAMPLE_ALL, 0);
    get_curve(&curve, study);
    uint64_t before = 1;
    bool good = true;
    for (uint64_t lines = curve_next(&curve, 1, 0); lines != 0;
         lines = curve_next(&curve, lines, 0)) {
        good = good && curve_misses(&curve, lines) < curve_misses(&curve, before) &&
               curve_misses(&curve, lines - 1) == curve_misses(&curve, before);
        before = lines;
    }
    CU_ASSERT_TRUE(good);
    CU_ASSERT_EQUAL(curve_misses(&curve, before), curve.compulsory);
    curve_free(&curve);
    mrc_study_free(study);
}

static void test_sample(void)
{
    check_sample(SAMPLE_ALL / 10, 0, 0.97);
}

static void test_sample_size(void)
{
    check_sample(SAMPLE_ALL, SAMPLE_SIZE, 0.95);
}

/* A sample that holds all lines gives the exact curve at the bounds of buckets. */
static void test_sample_of_all(void)
{
    static struct record records[RECORDS];
    for (int shape = 0; shape < SHAPES; shape++) {
        uint64_t random = random_seed((uint64_t)shape + 70);
        struct curve exact, sampled;
        make_records(records, (enum shape)shape, &random);
        struct mrc_study *all = run(records, RECORDS, SAMPLE_ALL, 0);
        struct mrc_study *some = run(records, RECORDS, SAMPLE_ALL, 1u << 20);
        get_curve(&exact, all);
        get_curve(&sampled, some);
        CU_ASSERT_EQUAL(mrc_study_settings(some)->sample, SAMPLE_ALL);
        CU_ASSERT_EQUAL(exact.compulsory, sampled.compulsory);
        for (uint64_t lines = 1; lines != 0; lines = curve_next(&exact, lines, 8))
            CU_ASSERT_EQUAL(curve_misses(&exact, lines), curve_misses(&sampled, lines));
        curve_free(&exact);
        curve_free(&sampled);
        mrc_study_free(all);
        mrc_study_free(some);
    }
}

static const struct test_case cases[] = {
    {"confidence intervals of samples", test_sample},
    {"confidence intervals of samples of a fixed size", test_sample_size},
    {"confidence intervals for varied traces", test_varied},
    {"a sample of all lines", test_sample_of_all},
    {"a loop", test_loop},
    {"sizes where the curve changes", test_changes},
    {NULL, NULL}};
TEST_SUITE(curve, cases)
