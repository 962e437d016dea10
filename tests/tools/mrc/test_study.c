#include "tools/mrc/mrc_study.h"

#include "formats/record/reference.h"
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/mrc/buckets.h"
#include "tools/mrc/sample.h"

#include <stdlib.h>
#include <string.h>

enum { RECORDS = 900, PARTS = 8 };

/* --- by definition: each reference searches all those before it --- */

struct line_use {
    uint32_t line;
    unsigned cache, series;
    uint64_t window, time;
};

struct study_twin {
    struct line_use uses[RECORDS * 4];
    size_t count;
    uint64_t dropped;
};

static uint64_t window_of(const struct mrc_window *window, uint64_t record, uint64_t tick)
{
    return window->unit == WINDOW_NONE    ? 0
           : window->unit == WINDOW_TICKS ? tick / window->length
                                          : record / window->length;
}

static void twin_fill(struct study_twin *twin, const struct mrc_study_settings *settings,
                      const struct record *records, size_t count)
{
    uint64_t tick = 0;
    uint64_t time = 0;
    twin->count = 0;
    twin->dropped = 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned kind = reference_kind_of(records[i].type);
        tick += records[i].time;
        twin->dropped += kind == REFERENCE_NONE;
        if (kind == REFERENCE_NONE)
            continue;
        const unsigned cache =
            (settings->by_processor ? records[i].processor : 0u) * (settings->split ? 2u : 1u) +
            (settings->split && kind != REFERENCE_FETCH);
        const uint64_t first = records[i].address / settings->line_bytes;
        const uint64_t end = ((uint64_t)records[i].address + reference_bytes(&records[i]) - 1) /
                             settings->line_bytes;
        for (uint64_t line = first; line <= end; line++, time++) {
            const uint32_t wrapped = (uint32_t)(line * settings->line_bytes) / settings->line_bytes;
            if (!sample_follows(wrapped, settings->sample))
                continue;
            twin->uses[twin->count++] =
                (struct line_use){.line = wrapped,
                                  .cache = cache,
                                  .series = settings->by_kind ? cache * 3 + kind : cache,
                                  .window = window_of(&settings->window, i, tick),
                                  .time = settings->ticks ? tick : time};
        }
    }
}

/* Distinct lines of the cache and set since the line's previous use, *before (NULL: none). */
static uint32_t look_back(const struct study_twin *twin, size_t place, uint32_t sets,
                          const struct line_use **before)
{
    const struct line_use *use = &twin->uses[place];
    uint32_t distance = 0;
    *before = NULL;
    for (size_t i = place; i-- > 0;) {
        const struct line_use *other = &twin->uses[i];
        if (other->cache != use->cache || other->line % sets != use->line % sets)
            continue;
        if (other->line == use->line) {
            *before = other;
            return distance;
        }
        bool again = false; /* already counted: used later than other */
        for (size_t j = i + 1; j < place && !again; j++)
            again = twin->uses[j].cache == use->cache && twin->uses[j].line == other->line;
        distance += !again;
    }
    return BANK_COLD;
}

/* --- counts of a series in a window by bucket; the last bucket counts cold misses --- */

static void twin_counts(const struct study_twin *twin, const struct mrc_study_settings *settings,
                        unsigned series, uint64_t window, uint64_t *counts)
{
    const unsigned buckets = mrc_study_buckets(settings);
    for (size_t i = 0; i < twin->count; i++) {
        const struct line_use *use = &twin->uses[i];
        const struct line_use *before;
        if (use->series != series || use->window != window)
            continue;
        const uint32_t distance = look_back(twin, i, settings->sets, &before);
        if (!before)
            counts[settings->kind == BANK_WINDOWS ? BANK_FIRST : buckets]++;
        else if (settings->kind == BANK_WINDOWS)
            counts[before->window == use->window ? BANK_AGAIN : BANK_FIRST]++;
        else if (settings->kind == BANK_TIMES)
            counts[buckets_of(use->time - before->time)]++;
        else if (settings->window.unit != WINDOW_NONE)
            counts[buckets_of(distance)]++;
        else
            counts[distance]++;
    }
}

static void mrc_study_counts(const struct mrc_study *study,
                             const struct mrc_study_settings *settings, unsigned number,
                             uint64_t window, uint64_t *counts)
{
    const struct series *series = mrc_study_series(study, number);
    const unsigned buckets = mrc_study_buckets(settings);
    if (!series)
        return;
    if (settings->kind == BANK_DISTANCES && settings->window.unit == WINDOW_NONE) {
        for (size_t i = 0; i < histogram_end(&series->distances); i++)
            counts[i] += histogram_count(&series->distances, i);
        counts[buckets] += series->cold;
    } else if (series->window_count > 0 && window >= series->first_window &&
               window - series->first_window < series->window_count) {
        for (unsigned i = 0; i <= buckets; i++)
            counts[i] += series->windows[(window - series->first_window) * (buckets + 1) + i];
    }
}

/* --- a random study of a random trace --- */

static void make_settings(struct mrc_study_settings *settings, uint64_t *random)
{
    *settings = (struct mrc_study_settings){
        .kind = (enum bank_kind)random_below(random, 3),
        .line_bytes = 8u << random_below(random, 6),
        .sets = random_one_in(random, 3) ? 1u << random_below(random, 5) : 1,
        .by_processor = random_one_in(random, 3),
        .split = random_one_in(random, 3),
        .by_kind = random_one_in(random, 3),
        .sample = random_one_in(random, 4) ? SAMPLE_ALL / 3 : SAMPLE_ALL,
        .ticks = random_one_in(random, 2)};
    if (settings->kind != BANK_DISTANCES)
        settings->sets = 1;
    if (settings->kind == BANK_WINDOWS || random_one_in(random, 3)) {
        settings->window.unit = random_one_in(random, 2) ? WINDOW_TICKS : WINDOW_REQUESTS;
        settings->window.length = 1 + random_below(random, 300);
    }
}

static size_t make_records(struct record *records, uint64_t *random)
{
    static const uint8_t types[] = {REQUEST_FETCH, REQUEST_MEMREAD, REQUEST_MEMREADINV,
                                    REQUEST_MEMWRITE, REQUEST_IOREAD};
    const size_t count = 1 + (size_t)random_below(random, random_one_in(random, 8) ? RECORDS : 150);
    const uint32_t span = 1u << (6 + random_below(random, 8));
    const uint32_t base = random_one_in(random, 2) ? 0u - span / 2 : 0x1000;
    for (size_t i = 0; i < count; i++)
        records[i] = (struct record){.address = base + (uint32_t)random_below(random, span),
                                     .type = types[random_below(random, 5)],
                                     .size = (uint8_t)random_below(random, 9),
                                     .processor = (uint8_t)random_below(random, 3),
                                     .time = (uint32_t)random_below(random, 20)};
    return count;
}

static void put_records(struct mrc_study *study, struct record *records, size_t first, size_t end,
                        uint64_t *random)
{
    struct bt_error error;
    while (first < end) {
        const size_t some = 1 + (size_t)random_below(random, end - first);
        struct batch batch = {.records = records + first, .count = some, .capacity = some};
        batch.first_tick = records_time(records, first + 1);
        CU_ASSERT_EQUAL_FATAL(mrc_study_put(study, &batch, &error), 0);
        first += some;
    }
}

/* Studies the trace in parts and adds up their counts. */
static struct mrc_study *run_parts(const struct mrc_study_settings *settings,
                                   struct record *records, size_t count, unsigned parts,
                                   uint64_t *random)
{
    struct mrc_study *studies[PARTS];
    struct pending_list pending = {.entries = NULL, .count = 0, .capacity = 0};
    struct numbers numbers = {.values = NULL, .count = 0, .capacity = 0};
    struct bt_error error;
    size_t cuts[PARTS + 1] = {0};
    for (unsigned i = 1; i < parts; i++)
        cuts[i] = cuts[i - 1] + (size_t)random_below(random, count - cuts[i - 1] + 1);
    cuts[parts] = count;
    for (unsigned i = parts; i-- > 0;) {
        /* an empty part at the start is not the first part */
        studies[i] = mrc_study_new(settings, i == 0 ? 0 : cuts[i] + (cuts[i] == 0), &error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(studies[i]);
        put_records(studies[i], records, cuts[i], cuts[i + 1], random);
    }
    for (unsigned i = parts; i-- > 0;)
        CU_ASSERT_EQUAL_FATAL(mrc_study_resolve(studies[i], &pending, &error), 0);
    CU_ASSERT_EQUAL(pending.count, 0);
    free(pending.entries);
    for (unsigned i = 1; i < parts; i++) {
        numbers.count = 0;
        CU_ASSERT_EQUAL_FATAL(mrc_study_pack(studies[i], &numbers, &error), 0);
        CU_ASSERT_EQUAL_FATAL(mrc_study_add(studies[0], &numbers, &error), 0);
        mrc_study_free(studies[i]);
    }
    free(numbers.values);
    return studies[0];
}

static void check_study(uint64_t seed)
{
    static struct record records[RECORDS];
    static struct study_twin twin;
    static uint64_t expected[RECORDS * 4 + BUCKETS_TIME], got[RECORDS * 4 + BUCKETS_TIME];
    uint64_t random = random_seed(seed);
    struct mrc_study_settings settings;
    make_settings(&settings, &random);
    const size_t count = make_records(records, &random);
    const unsigned parts =
        random_one_in(&random, 2) ? 1 : 1 + (unsigned)random_below(&random, PARTS);
    struct mrc_study *study = run_parts(&settings, records, count, parts, &random);
    twin_fill(&twin, &settings, records, count);
    CU_ASSERT_EQUAL(mrc_study_totals(study)->requests, count);
    CU_ASSERT_EQUAL(mrc_study_totals(study)->dropped, twin.dropped);
    const uint64_t windows = window_of(&settings.window, count, records_time(records, count)) + 1;
    for (unsigned series = 0; series < 18; series++) {
        const struct series *counted = mrc_study_series(study, series);
        if (counted && counted->window_count > 0)
            CU_ASSERT(counted->first_window + counted->window_count <= windows);
        for (uint64_t window = 0; window < windows; window++) {
            memset(expected, 0, sizeof expected);
            memset(got, 0, sizeof got);
            twin_counts(&twin, &settings, series, window, expected);
            mrc_study_counts(study, &settings, series, window, got);
            if (memcmp(expected, got, sizeof got) != 0) {
                CU_FAIL("counts differ");
                fprintf(stderr, "seed %d series %u window %d\n", (int)seed, series, (int)window);
                window = windows;
            }
        }
    }
    mrc_study_free(study);
}

static void test_equals_twin(void)
{
    for (uint64_t seed = 0; seed < 1500; seed++)
        check_study(seed);
}

/* Windows of two processors, of one reference each: their counts share one limit. */
static void test_windows_share_a_limit(void)
{
    static struct record records[RECORDS];
    struct mrc_study_settings settings = {
        .line_bytes = 64,
        .sets = 1,
        .sample = SAMPLE_ALL,
        .by_processor = true,
        .window = {.unit = WINDOW_REQUESTS, .length = 1},
    };
    const size_t counts = mrc_study_buckets(&settings) + 1;
    struct bt_error error;
    for (size_t i = 0; i < 16; i++)
        records[i] = (struct record){.type = REQUEST_MEMREAD, .size = 8, .processor = i & 1};
    for (unsigned enough = 0; enough < 2; enough++) {
        settings.window_counts_max = (15 + 14 + enough) * counts;
        struct mrc_study *study = mrc_study_new(&settings, 0, &error);
        const struct batch batch = {.records = records, .count = 16};
        CU_ASSERT_EQUAL(mrc_study_put(study, &batch, &error), enough ? 0 : BT_USAGE);
        mrc_study_free(study);
    }
}

static const struct test_case cases[] = {
    {"counts equal the twin's, in any parts", test_equals_twin},
    {"windows of all curves share a limit", test_windows_share_a_limit},
    {NULL, NULL}};
TEST_SUITE(study, cases)
