#include "firmware/virtual/replay.h"

#include "firmware/p6.h"
#include "formats/capture/trace_reader.h"
#include "formats/foreign/trace_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_RECORDS 4096u
#define PATIENCE_MS   5 /* for a source without records: the board must also answer a host */

struct replay {
    char path[4096];
    bool loop;
    bool live; /* the source is not a file, and may block */
    bool ended;
    struct source *source; /* the trace; NULL once closed */
    uint64_t clock_hz;
    struct batch batch;
    size_t position;         /* in the batch */
    uint64_t number;         /* ordinal in the trace of the record at position */
    uint64_t tick;           /* of the previous record */
    uint64_t trace_tick;     /* the same, in the trace's ticks */
    struct bt_error failure; /* code 0: none */
};

/* Explains why a file cannot be opened; a trace in another format can be converted. */
static int explain(const struct replay *replay, int code, struct bt_error *error)
{
    const struct trace_format *format =
        code == BT_IO ? trace_format_detect(replay->path, NULL) : NULL;
    if (!format || !format->decoder)
        return code;
    return bt_fail(error, code,
                   "%.300s is in the format %s: a board replays BYU records; convert it "
                   "with bustap convert",
                   replay->path, format->name);
}

static int open_trace(struct replay *replay, struct bt_error *error)
{
    struct trace_reader *reader;
    int code = trace_reader_open(&reader, replay->path, 0, error);
    if (code < 0)
        return explain(replay, code, error);
    replay->source = trace_reader_source(reader);
    replay->clock_hz = source_info(replay->source)->clock_hz;
    replay->number = 0;
    replay->trace_tick = 0;
    return 0;
}

/* At the end of the trace: restarts it if it loops and has any records. */
static bool start_again(struct replay *replay)
{
    bool again = replay->loop && replay->number > 0;
    source_close(replay->source);
    replay->source = NULL;
    return again && open_trace(replay, &replay->failure) == 0;
}

/* Ensures that there is a record at position. False at the end, or if none is available now. */
static bool have_record(struct replay *replay)
{
    while (!replay->ended && replay->position == replay->batch.count) {
        replay->position = 0;
        batch_clear(&replay->batch);
        struct bt_error error = {0};
        int code =
            source_next(replay->source, &replay->batch, replay->live ? PATIENCE_MS : -1, &error);
        if (code == 0)
            replay->ended = !start_again(replay);
        else if (code < 0 && code != BT_NOTE && code != BT_TIMEOUT) {
            /* Records after corrupt data would lack the gap before them. */
            replay->failure = error;
            replay->batch.count = 0;
            replay->ended = true;
        }
        if (code < 0)
            replay->batch.count = 0;
        if (replay->live && code == BT_TIMEOUT)
            return false;
    }
    return !replay->ended;
}

struct replay *replay_new(const char *path, bool loop, struct bt_error *error)
{
    struct replay *replay = NULL;
    if (strlen(path) >= sizeof replay->path) {
        bt_fail(error, BT_USAGE, "the trace's name is longer than %zu bytes",
                sizeof replay->path - 1);
        return NULL;
    }
    if (loop && strcmp(path, "-") == 0) {
        bt_fail(error, BT_USAGE, "a trace from standard input cannot be looped");
        return NULL;
    }
    replay = calloc(1, sizeof *replay);
    if (!replay || !(replay->batch.records = malloc(BATCH_RECORDS * sizeof(struct record)))) {
        bt_fail(error, BT_MEMORY, "no memory to replay %s", path);
        goto out;
    }
    replay->batch.capacity = BATCH_RECORDS;
    replay->loop = loop;
    strcpy(replay->path, path);
    if (open_trace(replay, error) < 0)
        goto out;
    if (!have_record(replay) && replay->failure.code == 0) {
        bt_fail(error, BT_IO, "%.300s holds no records to replay", path);
        goto out;
    }
    return replay;
out:
    replay_free(replay);
    return NULL;
}

struct replay *replay_new_source(struct source *source, struct bt_error *error)
{
    struct replay *replay = calloc(1, sizeof *replay);
    struct record *records = malloc(BATCH_RECORDS * sizeof *records);
    if (!replay || !records) {
        bt_fail(error, BT_MEMORY, "no memory to put records on a bus");
        free(records);
        free(replay);
        source_close(source);
        return NULL;
    }
    *replay = (struct replay){.path = "the source",
                              .live = true,
                              .source = source,
                              .clock_hz = source_info(source)->clock_hz,
                              .batch = {.records = records, .capacity = BATCH_RECORDS}};
    return replay;
}

void replay_free(struct replay *replay)
{
    if (!replay)
        return;
    source_close(replay->source);
    free(replay->batch.records);
    free(replay);
}

/* Ticks between the record at position and the previous one. */
static uint64_t gap(const struct replay *replay)
{
    uint32_t time = replay->batch.records[replay->position].time;
    uint64_t whole = replay->batch.first_tick - replay->trace_tick;
    bool first = replay->position == 0 && replay->batch.first_tick >= replay->trace_tick;
    /* A saturated time hides the interval, which a capture contains. */
    return first && replay->number > 0 && time == UINT32_MAX && whole > time ? whole : time;
}

size_t replay_fill(struct replay *replay, struct bus_phase *phases, size_t capacity)
{
    size_t count = 0;
    while (count < capacity && have_record(replay)) {
        const struct record *record = &replay->batch.records[replay->position];
        const char *refusal = p6_encode(record, &phases[count]);
        if (refusal) {
            bt_fail(&replay->failure, BT_DATA,
                    "record %" PRIu64 " of %s cannot be a P6 request: %s", replay->number,
                    replay->path, refusal);
            replay->ended = true;
            break;
        }
        replay->tick += gap(replay);
        phases[count++].tick = replay->tick;
        replay->number++;
        if (++replay->position == replay->batch.count)
            replay->trace_tick = replay->batch.last_tick;
    }
    return count;
}

bool replay_ended(const struct replay *replay)
{
    return replay->ended;
}

int replay_failure(const struct replay *replay, struct bt_error *error)
{
    if (replay->failure.code && error)
        *error = replay->failure;
    return replay->failure.code;
}

uint64_t replay_clock_hz(const struct replay *replay)
{
    return replay->clock_hz;
}
