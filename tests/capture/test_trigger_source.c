/* Windows around matches: compared with a twin that marks every record of every window. */
#include "capture/trigger_source.h"

#include "formats/record/expression.h"
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/scripted_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY  700u
#define CLOCK_HZ  100000000u /* of a scripted source */
#define NS_A_TICK 10

/* A record that the script delivers. */
struct delivered {
    uint64_t index, tick;
    bool match, stop;
    uint64_t window; /* number of its window, from 1; 0: none */
};

struct twin {
    struct delivered *records;
    uint64_t count;
    uint64_t windows, matches, kept;
    bool stopped;
    uint64_t end;              /* positions from here on are after the stop */
    struct trigger_window *of; /* [window - 1]; only matches */
};

static struct expression *parse(const char *text)
{
    struct expression *expression = NULL;
    if (!text[0])
        return NULL;
    CU_ASSERT_EQUAL_FATAL(expression_parse(&expression, text, NULL, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(expression_clock(expression, CLOCK_HZ, NULL), 0);
    return expression;
}

static bool matches(const struct expression *expression, const struct script *script,
                    uint64_t index)
{
    struct record record = script_record(script, index);
    return expression && expression_match(expression, &record, index, script_tick(script, index));
}

static void deliver(struct twin *twin, const struct script *script,
                    const struct trigger_settings *settings)
{
    struct expression *trigger = parse(settings->trigger);
    struct expression *stop = parse(settings->stop_on);
    twin->records = calloc(script->total + 1, sizeof *twin->records);
    twin->of = calloc(script->total + 1, sizeof *twin->of);
    CU_ASSERT_PTR_NOT_NULL_FATAL(twin->records);
    CU_ASSERT_PTR_NOT_NULL_FATAL(twin->of);
    for (uint64_t i = 0; i < script->total; i++)
        if (script_lost(script, i) == LOSS_STAGES) {
            bool stops = matches(stop, script, i);
            twin->records[twin->count++] =
                (struct delivered){.index = i,
                                   .tick = script_tick(script, i),
                                   .match = stops || matches(trigger, script, i),
                                   .stop = stops};
        }
    expression_free(trigger);
    expression_free(stop);
}

/* The first position of the window of a match: what is wanted, and in the buffer. */
static uint64_t begin_of(const struct twin *twin, const struct trigger_settings *settings,
                         uint64_t at)
{
    uint64_t ring = settings->ring_bytes / RECORD_BYTES;
    uint64_t ticks = (uint64_t)settings->pre_ns / NS_A_TICK;
    uint64_t from = at;
    if (!settings->trigger[0] && ring == 0)
        return 0;
    if (!settings->trigger[0])
        return at > ring ? at - ring : 0;
    if (ticks == 0)
        return at > settings->pre_records ? at - settings->pre_records : 0;
    while (from > 0 && at - from < ring &&
           twin->records[from - 1].tick + ticks >= twin->records[at].tick)
        from--;
    return from;
}

/* The position after the window of a match. */
static uint64_t end_of(const struct twin *twin, const struct trigger_settings *settings,
                       uint64_t at)
{
    uint64_t ticks = (uint64_t)settings->post_ns / NS_A_TICK;
    uint64_t until = at + 1;
    if (ticks == 0)
        until += settings->post_records;
    while (ticks > 0 && until < twin->count &&
           twin->records[until].tick <= twin->records[at].tick + ticks)
        until++;
    return until < twin->count ? until : twin->count;
}

static void mark(struct twin *twin, const struct trigger_settings *settings)
{
    uint64_t until = 0;
    twin->end = twin->count;
    for (uint64_t at = 0; at < twin->count && !twin->stopped; at++) {
        const struct delivered *match = &twin->records[at];
        if (!match->match)
            continue;
        uint64_t from = begin_of(twin, settings, at);
        if (twin->windows == 0 || from > until)
            twin->windows++;
        else if (from > until || from < until)
            from = until;
        struct trigger_window *window = &twin->of[twin->windows - 1];
        if (window->matches++ == 0)
            *window = (struct trigger_window){
                .matches = 1, .first_index = match->index, .first_tick = match->tick};
        window->last_index = match->index;
        window->last_tick = match->tick;
        twin->matches++;
        uint64_t end = end_of(twin, settings, at);
        for (; from < end; from++)
            twin->records[from].window = twin->windows;
        until = end > until ? end : until;
        twin->stopped = match->stop;
        if (twin->stopped)
            twin->end = until;
    }
    if (!trigger_selects(settings) && !twin->stopped)
        for (uint64_t i = 0; i < twin->count; i++)
            twin->records[i].window = 1; /* a window that never ends */
    for (uint64_t i = 0; i < twin->count; i++)
        twin->kept += twin->records[i].window > 0;
}

/* What a test knows while it reads. */
struct reading {
    const struct script *script;
    struct twin twin;
    struct source *source;
    uint64_t position; /* next of the twin's records */
    uint64_t window;   /* number of windows that have ended, and 1 */
    uint64_t index;    /* next in the files */
    uint64_t kept, lost, gaps, last_tick;
    bool after_record, right;
};

static void check(struct reading *reading, bool right)
{
    reading->right = reading->right && right;
}

static void check_record(struct reading *reading, const struct record *record, uint64_t index,
                         uint64_t tick)
{
    const struct twin *twin = &reading->twin;
    while (reading->position < twin->count && twin->records[reading->position].window == 0)
        reading->position++;
    check(reading, reading->position < twin->count);
    if (!reading->right)
        return;
    const struct delivered *wanted = &twin->records[reading->position++];
    struct record original = script_record(reading->script, wanted->index);
    check(reading, wanted->index == index && wanted->tick == tick);
    check(reading, wanted->window == reading->window);
    check(reading, record->address == original.address && record->type == original.type);
    uint64_t passed = tick - reading->last_tick;
    if (reading->after_record)
        check(reading, record->time == (passed < UINT32_MAX ? passed : UINT32_MAX));
    reading->last_tick = tick;
    reading->after_record = true;
    reading->kept++;
}

static void check_batch(struct reading *reading, const struct batch *batch)
{
    uint64_t lost = loss_total(&batch->lost);
    uint64_t tick = batch->first_tick;
    uint64_t omitted = trigger_window(reading->source).omitted;
    reading->lost += lost;
    reading->gaps += batch->gap.milliseconds > 0;
    if (batch_has_loss_or_gap(batch))
        reading->after_record = false;
    if (batch->count > 0)
        check(reading, batch->first_index == reading->index + lost);
    reading->index += lost + batch->count;
    for (size_t i = 0; i < batch->count; i++) {
        tick += i ? batch->records[i].time : 0;
        check_record(reading, &batch->records[i], batch->first_index + i + omitted, tick);
    }
    check(reading, batch->count == 0 || batch->last_tick == tick);
}

static void check_window(struct reading *reading)
{
    struct trigger_window window = trigger_window(reading->source);
    const struct trigger_window *wanted = &reading->twin.of[reading->window - 1];
    check(reading, reading->window <= reading->twin.windows);
    check(reading, window.matches == wanted->matches && window.first_index == wanted->first_index &&
                       window.first_tick == wanted->first_tick &&
                       window.last_index == wanted->last_index &&
                       window.last_tick == wanted->last_tick);
    reading->window++;
}

/* Returns whether the source has ended by itself. */
static bool read_all(struct reading *reading, uint64_t *random)
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
        if (result == 1 && trigger_window_ended(reading->source))
            check_window(reading);
        if (trigger_is_done(reading->source))
            return false;
    } while (result == 1 || result == BT_TIMEOUT || result == BT_NOTE || result == BT_DATA);
    CU_ASSERT_EQUAL(result, 0);
    return true;
}

static void check_end(struct reading *reading, const struct trigger_settings *settings, bool ended)
{
    const struct twin *twin = &reading->twin;
    struct trigger_counts counts = trigger_counts(reading->source);
    struct source_totals totals;
    source_totals(reading->source, &totals);
    check(reading, reading->kept == twin->kept);
    check(reading, counts.matches == twin->matches);
    if (trigger_selects(settings))
        check(reading, counts.windows == twin->windows);
    if (!ended) {
        check(reading, twin->stopped);
    } else {
        check(reading, totals.accepted == reading->kept + reading->lost);
        check(reading, reading->lost == reading->script->total - twin->count);
    }
    check(reading, counts.stopped == twin->stopped);
    if (twin->stopped)
        check(reading, counts.stop_index == twin->of[twin->windows - 1].last_index);
}

static void run(const struct trigger_settings *settings, const struct script *script,
                uint64_t *random, uint64_t seed)
{
    struct bt_error error = {0};
    bool closed = false;
    struct reading reading = {.script = script, .window = 1, .right = true};
    deliver(&reading.twin, script, settings);
    mark(&reading.twin, settings);
    CU_ASSERT_EQUAL(trigger_check(settings, &error), 0);
    reading.source = trigger_source_new(scripted_source_new(script, &closed), settings, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(reading.source);
    check_end(&reading, settings, read_all(&reading, random));
    if (!reading.right)
        printf("seed %llu: trigger '%s' stop '%s' pre %llu or %lld ns, post %llu or %lld ns, ring "
               "%llu\n",
               (unsigned long long)seed, settings->trigger, settings->stop_on,
               (unsigned long long)settings->pre_records, (long long)settings->pre_ns,
               (unsigned long long)settings->post_records, (long long)settings->post_ns,
               (unsigned long long)settings->ring_bytes);
    CU_ASSERT_TRUE(reading.right);
    source_close(reading.source);
    CU_ASSERT_TRUE(closed);
    free(reading.twin.records);
    free(reading.twin.of);
}

static struct trigger_settings random_settings(uint64_t *random)
{
    static const char *const texts[] = {
        "address&0xff=0", "address&0xfff=0",          "type=FETCH", "index=700-720|2000|5000-5001",
        "index&0xff=0",   "time>1ms and time<1.01ms", "address=1",  "size=33"};
    const size_t count = sizeof texts / sizeof *texts;
    static const uint64_t extents[] = {0, 1, 2, 20, 300, 2000, 100000};
    struct trigger_settings settings = {.trigger = ""};
    bool triggers = random_below(random, 8) > 0;
    bool stops = !triggers || random_below(random, 4) == 0;
    uint64_t pre = extents[random_below(random, 7)];
    uint64_t post = extents[random_below(random, 7)];
    if (triggers)
        strcpy(settings.trigger, texts[random_below(random, count)]);
    if (stops)
        strcpy(settings.stop_on, texts[random_below(random, count)]);
    if (triggers && random_below(random, 2))
        settings.pre_ns = (int64_t)pre * NS_A_TICK * 20;
    else if (triggers)
        settings.pre_records = pre;
    if (random_below(random, 2))
        settings.post_ns = (int64_t)(post * (1 + random_below(random, 20))) * NS_A_TICK;
    else
        settings.post_records = post;
    if (settings.pre_ns || random_below(random, 3) == 0)
        settings.ring_bytes = (1 + random_below(random, 1000)) * RECORD_BYTES;
    return settings;
}

static void test_scripts(void)
{
    for (uint64_t seed = 0; seed < 600; seed++) {
        uint64_t random = random_seed(seed);
        uint64_t most = seed % 100 == 99 ? 400000 : 7000; /* the buffer is moved a few times */
        const struct script script = {.seed = random,
                                      .total = random_below(&random, most),
                                      .chunk = 1 + random_below(&random, 300),
                                      .lost_percent = (unsigned)random_below(&random, 40),
                                      .gap_percent = (unsigned)random_below(&random, 30),
                                      .short_percent = (unsigned)random_below(&random, 50),
                                      .odd_percent = (unsigned)random_below(&random, 20)};
        struct trigger_settings settings = random_settings(&random);
        run(&settings, &script, &random, seed);
    }
}

/* Many matches in a batch, whose windows just overlap, touch, or are a record or a tick apart. */
static void test_dense_matches(void)
{
    for (uint64_t seed = 0; seed < 400; seed++) {
        uint64_t random = random_seed(seed);
        const struct script script = {.seed = random, .total = 3000, .chunk = 1000};
        struct trigger_settings settings = {.trigger = "processor=1"};
        uint64_t pre = random_below(&random, 5) > 1 ? random_below(&random, 40) : 0;
        uint64_t post = random_below(&random, 5) > 1 ? random_below(&random, 40) : 0;
        if (random_below(&random, 2))
            settings.pre_ns = (int64_t)pre * NS_A_TICK;
        else
            settings.pre_records = pre / 8;
        if (random_below(&random, 2))
            settings.post_ns = (int64_t)post * NS_A_TICK;
        else
            settings.post_records = post / 8;
        if (settings.pre_ns)
            settings.ring_bytes = (1 + random_below(&random, 8)) * RECORD_BYTES;
        run(&settings, &script, &random, seed);
    }
}

/* The memory is what the settings say; what does not fit the limit is refused before anything is
 * allocated. */
static void test_memory(void)
{
    struct bt_error error;
    struct trigger_settings settings = {.trigger = "type=FETCH"};
    CU_ASSERT(trigger_memory(&settings) < UINT64_C(2) << 20);
    settings.ring_bytes = UINT64_C(7) << 30;
    CU_ASSERT(trigger_memory(&settings) > UINT64_C(14) << 30);
    CU_ASSERT(trigger_memory(&settings) < (UINT64_C(14) << 30) + (UINT64_C(2) << 20));
    CU_ASSERT_EQUAL(trigger_check(&settings, &error), 0);
    settings.ring_bytes = UINT64_C(8) << 30;
    CU_ASSERT_EQUAL(trigger_check(&settings, &error), BT_USAGE);
    settings.ring_bytes = UINT64_MAX;
    CU_ASSERT_EQUAL(trigger_check(&settings, &error), BT_USAGE);
    settings.ring_bytes = 0;
    settings.pre_records = (UINT64_C(7) << 30) / RECORD_BYTES;
    CU_ASSERT_EQUAL(trigger_check(&settings, &error), 0);
    for (unsigned bits = 31; bits < 64; bits++) {
        settings.pre_records = (UINT64_C(1) << bits) + 1;
        CU_ASSERT_EQUAL(trigger_check(&settings, &error), BT_USAGE);
    }
    settings.pre_records = UINT64_MAX;
    CU_ASSERT_EQUAL(trigger_check(&settings, &error), BT_USAGE);
    settings = (struct trigger_settings){.stop_on = "type=FETCH"};
    CU_ASSERT(trigger_memory(&settings) < UINT64_C(2) << 20);
    settings = (struct trigger_settings){.trigger = ""};
    CU_ASSERT_EQUAL(trigger_memory(&settings), 0);
}

static const struct test_case cases[] = {{"windows, stops, losses and short buffers", test_scripts},
                                         {"dense matches", test_dense_matches},
                                         {"memory of large buffers", test_memory},
                                         {NULL, NULL}};
TEST_SUITE(trigger_source, cases)
