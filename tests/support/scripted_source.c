#include "tests/support/scripted_source.h"

#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define JUMP_EVERY 5000u /* number of records; the time saturates there */
#define JUMP_TICKS (1ull << 33)

struct scripted_source {
    struct source source;
    struct script script;
    struct capture_info info;
    uint64_t index; /* of the next request */
    uint64_t end;
    uint64_t random;
    bool stopped;
    bool reported; /* its end was reported */
    bool *closed;
    bool started;
    uint64_t gap_index; /* gaps before it are reported */
};

static uint64_t mix(uint64_t seed, uint64_t value)
{
    uint64_t state = (seed ^ (value + 1) * 0x9e3779b97f4a7c15u) | 1;
    random_next(&state);
    return random_next(&state) >> 8;
}

uint64_t script_tick(const struct script *script, uint64_t index)
{
    return 1000 + 10 * index + mix(script->seed, index) % 10 + index / JUMP_EVERY * JUMP_TICKS;
}

struct record script_record(const struct script *script, uint64_t index)
{
    uint64_t bits = mix(script->seed, index);
    uint64_t time = index ? script_tick(script, index) - script_tick(script, index - 1) : 0;
    return (struct record){.address = (uint32_t)(index * 32 + (bits >> 4) % 4096),
                           .type = request_type_at((unsigned)(bits % REQUEST_TYPES)),
                           .size = 32,
                           .attribute = (uint8_t)(bits >> 16 & 7),
                           .processor = (uint8_t)(bits >> 24 & 3),
                           .time = time > UINT32_MAX ? UINT32_MAX : (uint32_t)time};
}

enum loss_stage script_lost(const struct script *script, uint64_t index)
{
    uint64_t bits = mix(~script->seed, index / script->chunk);
    if (bits % 100 >= script->lost_percent)
        return LOSS_STAGES;
    return bits >> 20 & 1 ? LOSS_BUS : LOSS_LINK;
}

struct gap script_gap(const struct script *script, uint64_t index)
{
    uint64_t bits = mix(script->seed + 17, index / script->chunk);
    struct gap none = {.milliseconds = 0};
    if (index % script->chunk != 0 || bits % 100 >= script->gap_percent)
        return none;
    return (struct gap){.milliseconds = 1 + (uint32_t)(bits >> 32 & 0xffff),
                        .uncounted = bits >> 20 & 1};
}

static int odd_answer(struct scripted_source *source, struct bt_error *error)
{
    static const int answers[] = {BT_TIMEOUT, BT_NOTE, BT_DATA};
    return bt_fail(error, answers[random_below(&source->random, 3)], "something odd at %llu",
                   (unsigned long long)source->index);
}

/* Skips lost chunks, and reports gaps that were not reported before. */
static void skip_lost(struct scripted_source *source, struct loss *lost, struct gap *gap)
{
    while (source->index < source->end) {
        struct gap here = script_gap(&source->script, source->index);
        if (source->index >= source->gap_index)
            gap_add(gap, &here);
        source->gap_index = source->index + 1;
        enum loss_stage stage = script_lost(&source->script, source->index);
        if (stage == LOSS_STAGES)
            return;
        struct loss one = {.first_tick = script_tick(&source->script, source->index)};
        one.last_tick = one.first_tick;
        one.count[stage] = 1;
        loss_add(lost, &one);
        source->index++;
    }
}

static void fill(struct scripted_source *source, struct batch *batch)
{
    const struct script *script = &source->script;
    size_t room = batch->capacity;
    if (random_below(&source->random, 100) < script->short_percent)
        room = 1 + random_below(&source->random, room);
    while (batch->count < room && source->index < source->end &&
           script_lost(script, source->index) == LOSS_STAGES) {
        struct record record = script_record(script, source->index);
        if (batch->count > 0 &&
            (record.time == UINT32_MAX || script_gap(script, source->index).milliseconds > 0))
            return;
        batch->records[batch->count++] = record;
        source->index++;
    }
}

static void pause_for(long ns)
{
    struct timespec time = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    if (ns > 0)
        nanosleep(&time, NULL);
}

static int scripted_next(struct source *base, struct batch *batch, int timeout_ms,
                         struct bt_error *error)
{
    struct scripted_source *source = (struct scripted_source *)base;
    if (!source->started)
        return bt_fail(error, BT_USAGE, "the script was not started");
    if (source->stopped && source->script.late_ns > 0) {
        pause_for(source->script.late_ns);
        source->script.late_ns = 0;
        return bt_fail(error, BT_TIMEOUT, "the script was late");
    }
    pause_for(source->script.pause_ns);
    if (random_below(&source->random, 100) < source->script.odd_percent)
        return odd_answer(source, error);
    if (source->index >= source->end && !source->stopped &&
        (source->script.ignores_stop || source->script.lingers || source->script.disconnected)) {
        pause_for(timeout_ms < 0 ? 10000000 : (long)timeout_ms * 1000000);
        return BT_TIMEOUT;
    }
    if (source->index >= source->end) {
        if (source->script.disconnected && !source->reported) {
            source->reported = true;
            return bt_fail(error, BT_DATA, "the scripted board was disconnected");
        }
        if (source->script.end < 0 && !source->stopped)
            return bt_fail(error, source->script.end, "the scripted board was unplugged");
        return 0;
    }
    batch_clear(batch);
    skip_lost(source, &batch->lost, &batch->gap);
    batch->first_index = source->index;
    fill(source, batch);
    batch->last_tick = script_tick(&source->script, source->index - 1);
    batch->first_tick =
        batch->count > 0 ? script_tick(&source->script, batch->first_index) : batch->last_tick;
    return 1;
}

static const struct capture_info *scripted_info(struct source *base)
{
    return &((struct scripted_source *)base)->info;
}

static void scripted_totals(struct source *base, struct source_totals *totals)
{
    const struct scripted_source *source = (const struct scripted_source *)base;
    memset(totals, 0, sizeof *totals);
    totals->known = source->script.end == 0 || source->index < source->end || source->stopped;
    totals->known = totals->known && !source->script.disconnected;
    totals->accepted = source->index;
    totals->seen = source->index + 7;
    totals->filtered = 7;
}

static int scripted_stop(struct source *base, struct bt_error *error)
{
    (void)error;
    struct scripted_source *source = (struct scripted_source *)base;
    if (source->script.ignores_stop || source->stopped)
        return 0;
    source->stopped = true;
    if (source->end - source->index > source->script.after_stop)
        source->end = source->index + source->script.after_stop;
    return 0;
}

static int scripted_start(struct source *base, struct bt_error *error)
{
    struct scripted_source *source = (struct scripted_source *)base;
    if (source->script.starts)
        ++*source->script.starts;
    if (source->script.start < 0 || source->started)
        return bt_fail(error, BT_DEVICE, "the script does not start");
    source->started = true;
    return 0;
}

static void scripted_close(struct source *base)
{
    struct scripted_source *source = (struct scripted_source *)base;
    if (source && source->closed)
        *source->closed = true;
    free(source);
}

struct source *scripted_source_new(const struct script *script, bool *closed)
{
    static const struct source_operations operations = {.start = scripted_start,
                                                        .next = scripted_next,
                                                        .info = scripted_info,
                                                        .totals = scripted_totals,
                                                        .stop = scripted_stop,
                                                        .close = scripted_close};
    struct scripted_source *source = calloc(1, sizeof *source);
    if (!source)
        abort();
    source->source.operations = &operations;
    source->source.backpressure = !script->impatient;
    source->script = *script;
    source->end = script->total;
    source->random = script->seed | 1;
    source->closed = closed;
    source->info = (struct capture_info){
        .clock_hz = 100000000, .board = "scripted", .bus = "p6", .filter = "type=FETCH"};
    return &source->source;
}
