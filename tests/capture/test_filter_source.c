/* The host's part of a capture's filter: what is left has its ticks, losses and gaps. */
#include "capture/filter_source.h"

#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/scripted_source.h"

#include <stdio.h>
#include <string.h>

#define CAPACITY 500u

static struct expression *parse(const char *text)
{
    struct expression *expression = NULL;
    struct bt_error error = {0};
    if (expression_parse(&expression, text, NULL, &error) < 0)
        printf("%s: %s\n", text, error.message);
    CU_ASSERT_PTR_NOT_NULL_FATAL(expression);
    return expression;
}

/* What a test knows of a stream while it reads it. */
struct reading {
    const struct script *script;
    const struct expression *expression;
    struct source *source;
    uint64_t original; /* next request of the script */
    uint64_t index;    /* next index of what is left */
    uint64_t last_tick;
    bool after_record; /* last_tick is that of the record before, and nothing was lost since */
    uint64_t lost, gaps, kept;
    bool right;
};

/* Passes lost requests and those that the filter excludes. */
static void pass_excluded(struct reading *reading)
{
    const struct script *script = reading->script;
    while (reading->original < script->total) {
        const struct record record = script_record(script, reading->original);
        if (script_lost(script, reading->original) == LOSS_STAGES &&
            expression_match(reading->expression, &record, reading->original,
                             script_tick(script, reading->original)))
            return;
        reading->original++;
    }
}

static void check_record(struct reading *reading, const struct record *record, uint64_t tick,
                         bool first)
{
    pass_excluded(reading);
    const struct record expected = script_record(reading->script, reading->original);
    reading->right = reading->right && reading->original < reading->script->total &&
                     tick == script_tick(reading->script, reading->original) &&
                     record->address == expected.address && record->type == expected.type &&
                     record->size == expected.size && record->attribute == expected.attribute &&
                     record->processor == expected.processor;
    uint64_t passed = tick - reading->last_tick;
    if (reading->after_record)
        reading->right =
            reading->right && record->time == (passed < UINT32_MAX ? passed : UINT32_MAX);
    reading->right = reading->right && (first || record->time < UINT32_MAX);
    reading->last_tick = tick;
    reading->after_record = true;
    reading->original++;
    reading->kept++;
}

static void check_batch(struct reading *reading, const struct batch *batch)
{
    uint64_t lost = loss_total(&batch->lost);
    uint64_t tick = batch->first_tick;
    reading->lost += lost;
    reading->gaps += batch->gap.milliseconds > 0;
    reading->right =
        reading->right && (batch->count == 0 || batch->first_index == reading->index + lost);
    reading->index += lost + batch->count;
    if (batch_has_loss_or_gap(batch))
        reading->after_record = false;
    for (size_t i = 0; i < batch->count; i++) {
        tick += i ? batch->records[i].time : 0;
        check_record(reading, &batch->records[i], tick, i == 0);
    }
    reading->right = reading->right && (batch->count == 0 || batch->last_tick == tick);
}

static void read_all(struct reading *reading, uint64_t *random)
{
    struct record records[CAPACITY];
    struct bt_error error = {0};
    int result;
    CU_ASSERT_EQUAL(source_start(reading->source, &error), 0);
    do {
        struct batch batch = {.records = records, .capacity = 1 + random_below(random, CAPACITY)};
        result = source_next(reading->source, &batch, 100, &error);
        if (result == 1)
            check_batch(reading, &batch);
    } while (result == 1 || result == BT_TIMEOUT || result == BT_NOTE || result == BT_DATA);
    CU_ASSERT_EQUAL(result, 0);
    pass_excluded(reading);
}

static void run(const char *text, uint64_t seed)
{
    uint64_t random = random_seed(seed);
    const struct script script = {.seed = random,
                                  .total = random_below(&random, 6000),
                                  .chunk = 1 + random_below(&random, 300),
                                  .lost_percent = (unsigned)random_below(&random, 40),
                                  .gap_percent = (unsigned)random_below(&random, 30),
                                  .short_percent = (unsigned)random_below(&random, 50),
                                  .odd_percent = (unsigned)random_below(&random, 20)};
    struct expression *twin = parse(text);
    CU_ASSERT_EQUAL(expression_clock(twin, 100000000, NULL), 0);
    bool closed = false;
    struct reading reading = {.script = &script, .expression = twin, .right = true};
    struct source_totals totals;
    reading.source =
        filter_source_new(scripted_source_new(&script, &closed), parse(text), "proc=1", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(reading.source);
    CU_ASSERT_TRUE(source_info(reading.source)->host_filters);
    CU_ASSERT_STRING_EQUAL(source_info(reading.source)->board_filter, "proc=1");
    read_all(&reading, &random);
    if (!reading.right)
        printf("seed %llu: %s\n", (unsigned long long)seed, text);
    CU_ASSERT_TRUE(reading.right);
    CU_ASSERT_EQUAL(reading.original, script.total);
    source_totals(reading.source, &totals);
    CU_ASSERT_EQUAL(totals.accepted, reading.kept + reading.lost);
    CU_ASSERT_EQUAL(totals.removed, script.total - reading.kept - reading.lost);
    CU_ASSERT_EQUAL(totals.filtered, 7 + totals.removed); /* 7 are the script's */
    source_close(reading.source);
    CU_ASSERT_TRUE(closed);
    expression_free(twin);
}

static void test_scripts(void)
{
    static const char *const texts[] = {"",
                                        "type=FETCH",
                                        "size>100 or attribute=WB",
                                        "address&1=1",
                                        "index&1=0 and not type=read",
                                        "time>1ms and time<30ms",
                                        "address=1",
                                        "index=700-720|2000"};
    for (uint64_t seed = 0; seed < 400; seed++)
        run(texts[seed % (sizeof texts / sizeof *texts)], seed);
}

/* A source whose records are 2^31 ticks apart: what is left of them saturates. */
struct slow_source {
    struct source source;
    struct capture_info info;
    uint64_t index;
};

#define SLOW_TIME  0x80000000u
#define SLOW_TOTAL 1000u

static int slow_next(struct source *source, struct batch *batch, int timeout_ms,
                     struct bt_error *error)
{
    struct slow_source *slow = (struct slow_source *)source;
    (void)timeout_ms;
    (void)error;
    batch_clear(batch);
    batch->first_index = slow->index;
    batch->first_tick = (slow->index + 1) * SLOW_TIME;
    while (batch->count < batch->capacity && slow->index < SLOW_TOTAL)
        batch->records[batch->count++] =
            (struct record){.address = (uint32_t)slow->index++, .time = SLOW_TIME};
    batch->last_tick = slow->index * SLOW_TIME;
    return batch->count > 0;
}

static const struct capture_info *slow_info(struct source *source)
{
    return &((struct slow_source *)source)->info;
}

static void slow_close(struct source *source)
{
    (void)source;
}

static void test_saturated_times(void)
{
    static const struct source_operations operations = {
        .next = slow_next, .info = slow_info, .close = slow_close};
    uint64_t random = random_seed(1);
    struct slow_source slow = {.source.operations = &operations};
    struct source *source =
        filter_source_new(&slow.source, parse("address&3=1 or address=100-200|300-301"), "", NULL);
    struct record records[64];
    struct bt_error error = {0};
    uint32_t next = 0;
    uint64_t kept = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(source);
    for (;;) {
        struct batch batch = {.records = records, .capacity = 1 + random_below(&random, 64)};
        if (source_next(source, &batch, 100, &error) != 1)
            break;
        uint64_t tick = batch.first_tick;
        CU_ASSERT_EQUAL(batch.first_index, kept);
        for (size_t i = 0; i < batch.count; i++, next++, kept++) {
            tick += i ? records[i].time : 0;
            while (next % 4 != 1 && !(next >= 100 && next <= 200) && next != 300 && next != 301)
                next++;
            CU_ASSERT_EQUAL(records[i].address, next);
            CU_ASSERT_EQUAL(tick, (next + UINT64_C(1)) * SLOW_TIME);
            CU_ASSERT_TRUE(i == 0 || records[i].time == SLOW_TIME);
        }
    }
    CU_ASSERT_EQUAL(kept, 250 + 101 - 25 + 2 - 1);
    source_close(source);
}

static void test_no_clock(void)
{
    static const struct source_operations operations = {
        .next = slow_next, .info = slow_info, .close = slow_close};
    struct slow_source slow = {.source.operations = &operations};
    struct bt_error error = {0};
    CU_ASSERT_PTR_NULL(filter_source_new(&slow.source, parse("time<1s"), "", &error));
    CU_ASSERT_EQUAL(error.code, BT_USAGE);
}

static const struct test_case cases[] = {{"scripts", test_scripts},
                                         {"saturated times", test_saturated_times},
                                         {"no clock", test_no_clock},
                                         {NULL, NULL}};
TEST_SUITE(filter_source, cases)
