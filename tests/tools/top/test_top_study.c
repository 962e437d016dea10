#include "tools/top/top_study.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

enum { RECORDS = 3000, BATCH = 100, PAIRS = 4 * RECORDS };

/* The slow twin: a list of what each record touches, searched from its start. */
struct pair {
    uint32_t values[2];
    uint64_t count, reads, last;
};

struct pairs {
    struct pair list[PAIRS];
    size_t count;
    uint64_t touched;
};

static void add_pair(struct pairs *pairs, uint32_t one, uint32_t other, bool read, uint64_t tick)
{
    size_t i = 0;
    while (i < pairs->count &&
           (pairs->list[i].values[0] != one || pairs->list[i].values[1] != other))
        i++;
    if (i == pairs->count)
        pairs->list[pairs->count++] = (struct pair){.values = {one, other}};
    pairs->list[i].count++;
    pairs->list[i].reads += read;
    pairs->list[i].last = tick;
    pairs->touched++;
}

static const uint8_t types[] = {REQUEST_FETCH,  REQUEST_MEMREAD, REQUEST_MEMREADINV,
                                REQUEST_IOREAD, REQUEST_HALT,    REQUEST_MEMWRITE};

static void make_records(struct record *records, uint64_t *random)
{
    static const uint32_t bases[] = {0, 0x4000, 0xffffff00};
    for (size_t i = 0; i < RECORDS; i++)
        records[i] = (struct record){
            .address = bases[random_below(random, 3)] + (uint32_t)random_below(random, 256),
            .type = types[random_below(random, sizeof types)],
            .size = (uint8_t)random_below(random, random_one_in(random, 5) ? 200 : 9),
            .processor = (uint8_t)random_below(random, 3),
            .time = (uint32_t)random_below(random, 4)};
}

/* Lines, with the last instruction of the processor. */
static void count_lines(struct pairs *pairs, const struct record *records, uint32_t line)
{
    uint32_t instructions[256] = {0};
    uint64_t tick = 1000;
    memset(pairs, 0, sizeof *pairs);
    for (size_t i = 0; i < RECORDS; i++) {
        const struct record *record = &records[i];
        const bool read = record->type == REQUEST_MEMREAD || record->type == REQUEST_MEMREADINV;
        tick += i > 0 ? record->time : 0;
        if (record->type == REQUEST_FETCH)
            instructions[record->processor] = record->address;
        if (!read && record->type != REQUEST_FETCH && record->type != REQUEST_MEMWRITE)
            continue;
        uint64_t seen = UINT64_MAX;
        for (uint64_t byte = record->address;
             byte < (uint64_t)record->address + (record->size ? record->size : 1); byte++) {
            if (byte > UINT32_MAX || byte / line == seen)
                continue;
            seen = byte / line;
            add_pair(pairs, (uint32_t)(seen * line), instructions[record->processor], read, tick);
        }
    }
}

static struct top_study *run(struct record *records, const char *by, unsigned line_shift)
{
    struct top_study_settings settings = {.key = {.line_shift = line_shift, .page_shift = 12}};
    struct bt_error error;
    uint64_t tick = 1000;
    CU_ASSERT_EQUAL_FATAL(top_key_take(&settings.key, by, &error), 0);
    CU_ASSERT_EQUAL_FATAL(top_key_pack(&settings.key, &error), 0);
    struct top_study *study = top_study_new(&settings, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(study);
    for (size_t i = 0; i < RECORDS; i += BATCH) {
        const struct batch batch = {.records = records + i, .count = BATCH, .first_tick = tick};
        CU_ASSERT_EQUAL_FATAL(top_study_put(study, &batch, &error), 0);
        tick += records_time(records + i + 1, BATCH - 1);
        tick += i + BATCH < RECORDS ? records[i + BATCH].time : 0;
    }
    return study;
}

static void compare(struct top_study *study, const struct pairs *pairs)
{
    struct top_snapshot snapshot;
    struct bt_error error;
    CU_ASSERT_EQUAL_FATAL(top_study_snapshot(study, PAIRS, false, &snapshot, &error), 0);
    CU_ASSERT_EQUAL_FATAL(snapshot.count, pairs->count);
    CU_ASSERT_EQUAL(snapshot.totals.touched, pairs->touched);
    CU_ASSERT_EQUAL(snapshot.totals.records, RECORDS);
    for (size_t row = 0; row < snapshot.count; row++) {
        const struct top_row *got = &snapshot.rows[row];
        const uint32_t one = top_key_value(top_study_key(study), got->number, 0);
        const uint32_t other = top_key_value(top_study_key(study), got->number, 1);
        size_t i = 0;
        while (i < pairs->count &&
               (pairs->list[i].values[0] != one || pairs->list[i].values[1] != other))
            i++;
        CU_ASSERT_NOT_EQUAL_FATAL(i, pairs->count);
        CU_ASSERT_EQUAL(got->count, pairs->list[i].count);
        CU_ASSERT_EQUAL(got->kinds[REFERENCE_READ], pairs->list[i].reads);
        CU_ASSERT_EQUAL(got->last_tick, pairs->list[i].last);
        if (row > 0)
            CU_ASSERT(got[-1].count > got->count ||
                      (got[-1].count == got->count && got[-1].number < got->number));
    }
    top_snapshot_clear(&snapshot);
}

static void test_lines(void)
{
    static struct record records[RECORDS];
    static struct pairs pairs;
    uint64_t random = random_seed(4);
    for (unsigned shift = 2; shift <= 8; shift += 2) {
        make_records(records, &random);
        count_lines(&pairs, records, 1u << shift);
        struct top_study *study = run(records, "line,instruction", shift);
        compare(study, &pairs);
        top_study_free(study);
    }
}

/* Types and processors: all records, each once. */
static void test_types(void)
{
    static struct record records[RECORDS];
    static struct pairs pairs;
    uint64_t random = random_seed(9), tick = 1000;
    make_records(records, &random);
    memset(&pairs, 0, sizeof pairs);
    for (size_t i = 0; i < RECORDS; i++) {
        tick += i > 0 ? records[i].time : 0;
        add_pair(&pairs, records[i].type, records[i].processor,
                 records[i].type == REQUEST_MEMREAD || records[i].type == REQUEST_MEMREADINV, tick);
    }
    struct top_study *study = run(records, "type,processor", 6);
    compare(study, &pairs);
    top_study_free(study);
}

/* Counts since the last snapshot. */
static void test_recent(void)
{
    const struct top_study_settings settings = {
        .key = {.fields = {TOP_ADDRESS}, .count = 1, .line_shift = 6, .page_shift = 12},
        .rates = true};
    struct record records[] = {{.address = 1, .type = REQUEST_MEMREAD},
                               {.address = 1, .type = REQUEST_MEMREAD},
                               {.address = 2, .type = REQUEST_MEMWRITE}};
    struct bt_error error;
    struct top_snapshot snapshot;
    struct top_study *study = top_study_new(&settings, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(study);
    struct batch batch = {.records = records, .count = 3};
    CU_ASSERT_EQUAL(top_study_put(study, &batch, &error), 0);
    CU_ASSERT_EQUAL_FATAL(top_study_snapshot(study, 5, false, &snapshot, &error), 0);
    CU_ASSERT_EQUAL(snapshot.recent, 3);
    CU_ASSERT_EQUAL(snapshot.rows[0].recent, 2);
    top_snapshot_clear(&snapshot);
    batch = (struct batch){.records = records + 2, .count = 1};
    CU_ASSERT_EQUAL(top_study_put(study, &batch, &error), 0);
    CU_ASSERT_EQUAL_FATAL(top_study_snapshot(study, 5, true, &snapshot, &error), 0);
    CU_ASSERT_EQUAL_FATAL(snapshot.count, 1);
    CU_ASSERT_EQUAL(snapshot.recent, 1);
    CU_ASSERT_EQUAL(snapshot.rows[0].number, 2);
    CU_ASSERT_EQUAL(snapshot.rows[0].count, 2);
    CU_ASSERT_EQUAL(snapshot.rows[0].recent, 1);
    top_snapshot_clear(&snapshot);
    top_study_free(study);
}

static const struct test_case cases[] = {{"lines and instructions are those of a twin", test_lines},
                                         {"types and processors are those of a twin", test_types},
                                         {"counts since the last snapshot", test_recent},
                                         {NULL, NULL}};
TEST_SUITE(top_study, cases)
