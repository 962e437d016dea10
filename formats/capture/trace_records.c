#include "formats/capture/trace_records.h"

#include "formats/capture/record_judge.h"
#include "formats/capture/trace_reader.h"
#include "formats/deflate/gunzip.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define GZIP_OUTPUT_BYTES (1u << 20)

struct trace_records {
    struct trace_input *input;
    unsigned reading; /* enum trace_reading */
    size_t record_bytes;
    uint64_t ordinal; /* of the next record */
    uint64_t tick;    /* of the last record delivered */
    bool begun;       /* a record has been delivered */
    bool tail_reported;
    uint64_t too_wide; /* LP64 records whose values need more than 32 bits, */
    uint64_t first_too_wide;
    bool too_wide_reported;
    bool judging;              /* it is not yet decided whether this is a trace */
    struct record_judge judge; /* of the first records; */
    size_t judged;             /* leading records that are judged and not yet delivered */
    bool finished;             /* the end is reached, */
    bool empty;                /* and the input has no bytes */
    /* gzip only */
    struct gunzip *gzip; /* NULL: not compressed */
    uint8_t *output;     /* decompressed bytes: [begin, end) are available */
    size_t begin, end;
    bool gzip_ended;
    struct bt_error pending; /* why the stream ended early; code 0: nothing to report */
};

/* Skips the zeros with which tapes and block devices fill their last block. Returns whether there
 * are any, or the read error. */
static int skip_padding(struct trace_input *input, struct bt_error *error)
{
    bool padded = false;
    for (;;) {
        const int result = trace_input_fill(input, 1, SIZE_MAX, error);
        if (result < 0)
            return result;
        const uint8_t *bytes = trace_input_bytes(input);
        const size_t available = trace_input_available(input);
        size_t zeros = 0;
        while (zeros < available && bytes[zeros] == 0)
            zeros++;
        padded |= zeros > 0;
        trace_input_consume(input, zeros);
        if (zeros < available || available == 0)
            return padded;
    }
}

/* Between two gzip members: starts the next one, or ends the stream. Other data than padding can be
 * a member whose first bytes are damaged, with any number of records. */
static int next_member(struct trace_records *records, struct bt_error *error)
{
    struct trace_input *input = records->input;
    const int padded = skip_padding(input, error);
    const int result = padded < 0 ? padded : trace_input_fill(input, 2, SIZE_MAX, error);
    if (result < 0)
        return result;
    const uint8_t *bytes = trace_input_bytes(input);
    const size_t available = trace_input_available(input);
    if (padded == 0 && available >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) {
        gunzip_begin_member(records->gzip);
        return 0;
    }
    records->gzip_ended = true;
    if (available > 0)
        bt_fail(&records->pending, BT_DATA,
                "%s: offset %" PRIu64 ": the data after a gzip member is damaged or no gzip data: "
                "its records are left out",
                trace_input_name(input), trace_input_offset(input));
    return 0;
}

/* Decompresses once, from the input into the free part of the output. */
static int decompress(struct trace_records *records, struct bt_error *error)
{
    struct trace_input *input = records->input;
    int result = trace_input_fill(input, 1, SIZE_MAX, error);
    if (result < 0)
        return result;
    const size_t available = trace_input_available(input);
    struct gunzip_buffers buffers = {.in = trace_input_bytes(input),
                                     .in_size = available,
                                     .out = records->output + records->end,
                                     .out_size = GZIP_OUTPUT_BYTES - records->end};
    const int status = gunzip_some(records->gzip, &buffers);
    const bool stuck = available == 0 && buffers.out_size == GZIP_OUTPUT_BYTES - records->end;
    trace_input_consume(input, available - buffers.in_size);
    records->end = GZIP_OUTPUT_BYTES - buffers.out_size;
    if (status == 1)
        return next_member(records, error);
    if (status == BT_MEMORY)
        return bt_fail(error, BT_MEMORY, "no memory to decompress %s", trace_input_name(input));
    if (status < 0 || stuck) {
        records->gzip_ended = true;
        bt_fail(&records->pending, BT_DATA, "%s: offset %" PRIu64 ": the gzip data %s",
                trace_input_name(input), trace_input_offset(input),
                status < 0 ? "is damaged" : "ends too early");
    }
    return 0;
}

/* Reads until wanted bytes are available, or the input ends; returns the available bytes. */
static int fetch(struct trace_records *records, size_t wanted, const uint8_t **bytes,
                 size_t *available, struct bt_error *error)
{
    int result = 0;
    if (!records->gzip) {
        result = trace_input_fill(records->input, wanted, SIZE_MAX, error);
        *bytes = trace_input_bytes(records->input);
        *available = trace_input_available(records->input);
        return result;
    }
    if (records->end - records->begin < wanted && records->begin > 0) {
        memmove(records->output, records->output + records->begin, records->end - records->begin);
        records->end -= records->begin;
        records->begin = 0;
    }
    while (records->end - records->begin < wanted && !records->gzip_ended && result == 0)
        result = decompress(records, error);
    *bytes = records->output + records->begin;
    *available = records->end - records->begin;
    return result;
}

static bool is_lp64(const struct trace_records *records)
{
    return records->record_bytes == RECORD_LP64_BYTES;
}

/* All bytes are judged. Input truncated before its first record is reported as such. */
static int judge_end(struct trace_records *records, const uint8_t *bytes, size_t available,
                     struct bt_error *error)
{
    bool nothing = records->judge.judged == 0;
    bool cut = records->pending.code == BT_DATA;
    if ((nothing && (available == 0 || cut)) ||
        (!nothing && record_judge_accepts(&records->judge))) {
        records->judging = false;
        return 0;
    }
    bool all = records->judge.judged == records->judged;
    return record_judge_explain(&records->judge, trace_input_name(records->input),
                                all ? bytes : NULL, available, records->reading, error);
}

/*
 * Judges the first records, at least enough to deliver some: a pipe is not waited for longer than
 * that. wanted: bytes to read before the first verdict. 0, BT_IO if this is not a trace, or the
 * read error.
 */
static int judge(struct trace_records *records, size_t wanted, struct bt_error *error)
{
    while (records->judging) {
        const uint8_t *bytes;
        size_t available;
        size_t width = records->record_bytes;
        int result = fetch(records, wanted, &bytes, &available, error);
        if (result < 0)
            return result;
        size_t whole = available / width;
        record_judge_add(&records->judge, bytes + records->judged * width, whole - records->judged,
                         is_lp64(records));
        records->judged = whole;
        if (record_judge_refuses(&records->judge))
            return record_judge_explain(&records->judge, trace_input_name(records->input),
                                        records->ordinal == 0 ? bytes : NULL, available,
                                        records->reading, error);
        if (records->judge.judged == RECORD_JUDGE_MAX)
            records->judging = false;
        else if (available < wanted)
            return judge_end(records, bytes, available, error);
        else if (whole > 0 && record_judge_accepts(&records->judge))
            return 0;
        wanted = available + width;
    }
    return 0;
}

/* Reads until a whole judged record is available, or none is left; returns the available bytes. */
static int peek(struct trace_records *records, const uint8_t **bytes, size_t *available,
                struct bt_error *error)
{
    int result = judge(records, records->record_bytes, error);
    return result < 0 ? result : fetch(records, records->record_bytes, bytes, available, error);
}

static void consume(struct trace_records *records, size_t size)
{
    if (records->judging)
        records->judged -= size / records->record_bytes;
    if (records->gzip)
        records->begin += size;
    else
        trace_input_consume(records->input, size);
}

void trace_records_free(struct trace_records *records)
{
    if (!records)
        return;
    gunzip_free(records->gzip);
    free(records->output);
    free(records);
}

struct trace_records *trace_records_new(struct trace_input *input, bool gzip, unsigned reading,
                                        struct bt_error *error)
{
    struct trace_records *records = calloc(1, sizeof *records);
    if (records) {
        records->input = input;
        records->reading = reading;
        records->record_bytes = reading & TRACE_LP64 ? RECORD_LP64_BYTES : RECORD_BYTES;
        records->judging = !(reading & TRACE_INSIST);
    }
    if (records && gzip) {
        records->output = malloc(GZIP_OUTPUT_BYTES);
        records->gzip = gunzip_new(NULL);
        if (!records->output || !records->gzip) {
            trace_records_free(records);
            records = NULL;
        }
    }
    if (!records) {
        bt_fail(error, BT_MEMORY, "no memory to read %s", trace_input_name(input));
        return NULL;
    }
    /* a file is judged before its first record is delivered */
    if (trace_input_size(input) > 0 &&
        judge(records, RECORD_JUDGE_MAX * records->record_bytes, error) < 0) {
        trace_records_free(records);
        return NULL;
    }
    return records;
}

/* No whole record is left: returns one pending report a call; then 0. */
static int finish(struct trace_records *records, size_t stray, struct bt_error *error)
{
    const char *name = trace_input_name(records->input);
    bool first = !records->finished;
    records->finished = true;
    if (first && records->ordinal == 0 && stray == 0 && records->pending.code != BT_DATA) {
        records->empty = true;
        return bt_fail(error, BT_NOTE, "%s is empty", name);
    }
    if (stray > 0 && !records->tail_reported) {
        records->tail_reported = true;
        return bt_fail(error, BT_NOTE, "%s: %zu extra bytes after record %" PRIu64 " are left out",
                       name, stray, records->ordinal);
    }
    if (records->too_wide > 0 && !records->too_wide_reported) {
        records->too_wide_reported = true;
        return bt_fail(error, BT_DATA,
                       "%s: %" PRIu64 " records, the first is number %" PRIu64
                       ", need more than 32 bits; the low 32 bits are used",
                       name, records->too_wide, records->first_too_wide);
    }
    if (records->pending.code) {
        *error = records->pending;
        records->pending.code = 0;
        return error->code;
    }
    return 0;
}

static void get_lp64(struct record *out, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)record_get_lp64(&out[i], bytes + i * RECORD_LP64_BYTES);
}

/* Counts the delivered records that need more than 32 bits. */
static void count_too_wide(struct trace_records *records, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct record ignored;
        if (record_get_lp64(&ignored, bytes + i * RECORD_LP64_BYTES) < 0 &&
            records->too_wide++ == 0)
            records->first_too_wide = records->ordinal + i;
    }
}

int trace_records_next(struct trace_records *records, struct batch *batch, struct bt_error *error)
{
    const uint8_t *bytes;
    size_t available;
    struct bt_error unheard;
    if (!error)
        error = &unheard;
    batch_clear(batch);
    int result = peek(records, &bytes, &available, error);
    if (result < 0)
        return result;
    size_t count = available / records->record_bytes;
    if (count == 0)
        return finish(records, available, error);
    if (count > batch->capacity)
        count = batch->capacity;
    if (records->record_bytes == RECORD_BYTES)
        records_get(batch->records, bytes, count);
    else
        get_lp64(batch->records, bytes, count);
    count = records_until_saturated(batch->records, count);
    if (records->record_bytes == RECORD_LP64_BYTES)
        count_too_wide(records, bytes, count);
    uint32_t first = batch->records[0].time;
    /* A saturated first time means "unknown", as in many traces. */
    if (records->begun || first != UINT32_MAX)
        records->tick += first;
    batch->count = count;
    batch->first_index = records->ordinal;
    batch->first_tick = records->tick;
    batch->last_tick = records->tick + records_time(batch->records + 1, count - 1);
    records->tick = batch->last_tick;
    records->ordinal += count;
    records->begun = true;
    consume(records, count * records->record_bytes);
    return 1;
}

/* Skips records of streams by reading them. */
static int read_past(struct trace_records *records, uint64_t count, struct bt_error *error)
{
    while (count > 0) {
        const uint8_t *bytes;
        size_t available;
        int result = peek(records, &bytes, &available, error);
        if (result < 0)
            return result;
        uint64_t here = available / records->record_bytes;
        if (here == 0)
            return 0;
        if (here > count)
            here = count;
        consume(records, (size_t)here * records->record_bytes);
        records->ordinal += here;
        count -= here;
    }
    return 0;
}

static int rewind_to_start(struct trace_records *records, struct bt_error *error)
{
    int result = trace_input_rewind(records->input, error);
    if (result < 0)
        return result;
    if (records->gzip)
        gunzip_begin_member(records->gzip);
    records->begin = records->end = 0;
    records->gzip_ended = false;
    records->pending.code = 0;
    records->ordinal = 0;
    return 0;
}

int trace_records_seek(struct trace_records *records, uint64_t record, struct bt_error *error)
{
    int result = 0;
    if (record < records->ordinal)
        result = rewind_to_start(records, error);
    if (result < 0)
        return result;
    uint64_t hop = record - records->ordinal;
    records->tick = 0;
    records->begun = false;
    uint64_t size = trace_input_size(records->input);
    if (records->gzip || size == 0)
        return read_past(records, hop, error);
    uint64_t left = (size - trace_input_offset(records->input)) / records->record_bytes;
    if (hop > left)
        hop = left;
    records->ordinal += hop;
    return trace_input_skip(records->input, hop * records->record_bytes, error);
}

bool trace_records_empty(const struct trace_records *records)
{
    return records->empty;
}

uint64_t trace_records_position(const struct trace_records *records)
{
    return records->ordinal;
}
