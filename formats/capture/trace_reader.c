#include "formats/capture/trace_reader.h"

#include "formats/capture/trace_input.h"
#include "formats/capture/trace_members.h"
#include "formats/capture/trace_records.h"

#include <stdlib.h>
#include <string.h>

struct trace_reader {
    struct source source;
    enum trace_kind kind;
    bool stopped;
    struct trace_input *input;
    struct trace_members *members; /* TRACE_CAPTURE */
    struct trace_records *records; /* the other kinds */
    struct capture_info no_info;   /* the empty description of a trace without a header */
};

/* A source is the first member of its reader. */
static struct trace_reader *reader_of(struct source *source)
{
    return (struct trace_reader *)source;
}

static int reader_next(struct source *source, struct batch *batch, int timeout_ms,
                       struct bt_error *error)
{
    struct trace_reader *reader = reader_of(source);
    (void)timeout_ms; /* a file never waits */
    if (reader->stopped) {
        batch_clear(batch);
        return 0;
    }
    if (batch->capacity == 0)
        return bt_fail(error, BT_USAGE, "a batch without room for records");
    return reader->members ? trace_members_next(reader->members, batch, error)
                           : trace_records_next(reader->records, batch, error);
}

static const struct capture_info *reader_info(struct source *source)
{
    struct trace_reader *reader = reader_of(source);
    return reader->members ? trace_members_info(reader->members) : &reader->no_info;
}

static void reader_totals(struct source *source, struct source_totals *totals)
{
    const struct capture_totals *closing = trace_reader_closing(reader_of(source));
    memset(totals, 0, sizeof *totals);
    if (closing)
        *totals = closing->source;
}

static int reader_stop(struct source *source, struct bt_error *error)
{
    (void)error;
    reader_of(source)->stopped = true;
    return 0;
}

static void reader_close(struct source *source)
{
    struct trace_reader *reader = reader_of(source);
    trace_members_free(reader->members);
    trace_records_free(reader->records);
    trace_input_close(reader->input);
    free(reader);
}

static const struct source_operations operations = {.next = reader_next,
                                                    .info = reader_info,
                                                    .totals = reader_totals,
                                                    .stop = reader_stop,
                                                    .close = reader_close};

/* The kind of the input, by its first bytes. A capture whose first block is corrupt is still a
 * capture. */
static enum trace_kind recognise(const struct trace_input *input)
{
    const uint8_t *bytes = trace_input_bytes(input);
    size_t size = trace_input_available(input);
    if (trace_members_recognise(bytes, size))
        return TRACE_CAPTURE;
    return size >= 3 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 8 ? TRACE_GZIP
                                                                              : TRACE_RAW;
}

/* Reports compression formats that are not supported but common. */
static int refuse_compressed(const struct trace_input *input, struct bt_error *error)
{
    static const struct {
        const char *magic;
        size_t size;
        const char *name;
    } others[] = {
        {"BZh91AY&SY", 10, "bzip2"}, {"\xfd\x37zXZ\0", 6, "xz"}, {"\x28\xb5\x2f\xfd", 4, "zstd"}};
    const uint8_t *bytes = trace_input_bytes(input);
    size_t available = trace_input_available(input);
    if (available < RECORD_BYTES)
        return 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (available >= others[i].size && memcmp(bytes, others[i].magic, others[i].size) == 0 &&
            (others[i].size > 4 || request_type_ordinal(bytes[4]) == REQUEST_TYPE_UNKNOWN))
            return bt_fail(error, BT_IO,
                           "%.300s is compressed with %s, and records are read plain or gzipped: "
                           "decompress it first",
                           trace_input_name(input), others[i].name);
    return 0;
}

int trace_reader_open(struct trace_reader **out, const char *path, unsigned reading,
                      struct bt_error *error)
{
    struct bt_error local;
    if (!error)
        error = &local;
    struct trace_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return bt_fail(error, BT_MEMORY, "no memory to read %s", path);
    reader->source.operations = &operations;
    reader->input = trace_input_open(path, error);
    if (!reader->input ||
        trace_input_fill(reader->input, CAPTURE_MEMBER_HEADER_MAX, SIZE_MAX, error) < 0)
        goto failed;
    reader->kind = recognise(reader->input);
    if (reader->kind == TRACE_RAW && !(reading & TRACE_INSIST) &&
        refuse_compressed(reader->input, error) < 0)
        goto failed;
    if (reader->kind == TRACE_CAPTURE)
        reader->members = trace_members_new(reader->input, error);
    else
        reader->records =
            trace_records_new(reader->input, reader->kind == TRACE_GZIP, reading, error);
    if (!reader->members && !reader->records)
        goto failed;
    *out = reader;
    return 0;
failed:
    reader_close(&reader->source);
    return error->code;
}

struct source *trace_reader_source(struct trace_reader *reader)
{
    return &reader->source;
}

enum trace_kind trace_reader_kind(const struct trace_reader *reader)
{
    return reader->kind;
}

int trace_reader_seek(struct trace_reader *reader, uint64_t record, struct bt_error *error)
{
    return reader->members ? trace_members_seek(reader->members, record, error)
                           : trace_records_seek(reader->records, record, error);
}

int trace_reader_seek_tick(struct trace_reader *reader, uint64_t tick, struct bt_error *error)
{
    return reader->members ? trace_members_seek_tick(reader->members, tick, error) : 0;
}

int trace_reader_peek_member(struct trace_reader *reader, struct capture_member *member,
                             struct bt_error *error)
{
    return trace_members_peek(reader->members, member, error);
}

int trace_reader_pass_member(struct trace_reader *reader, const struct capture_member *member,
                             struct bt_error *error)
{
    return trace_members_pass(reader->members, member, error);
}

int trace_reader_take_member(struct trace_reader *reader, const struct capture_member *member,
                             const uint8_t **bytes, struct bt_error *error)
{
    return trace_members_take(reader->members, member, bytes, error);
}

uint64_t trace_reader_position(const struct trace_reader *reader)
{
    return reader->members ? trace_members_position(reader->members)
                           : trace_records_position(reader->records);
}

bool trace_reader_empty(const struct trace_reader *reader)
{
    return reader->records && trace_records_empty(reader->records);
}

const struct capture_totals *trace_reader_closing(const struct trace_reader *reader)
{
    return reader->members ? trace_members_closing(reader->members) : NULL;
}

uint64_t trace_reader_examined(const struct trace_reader *reader)
{
    return reader->members ? trace_members_examined(reader->members) : 0;
}

void trace_reader_watch(struct trace_reader *reader, trace_watcher *watcher, void *context)
{
    if (reader->members)
        trace_members_watch(reader->members, watcher, context, false, false);
}

void trace_reader_watch_all(struct trace_reader *reader, trace_watcher *watcher, void *context)
{
    if (reader->members)
        trace_members_watch(reader->members, watcher, context, true, false);
}

void trace_reader_watch_unjudged(struct trace_reader *reader, trace_watcher *watcher, void *context)
{
    if (reader->members)
        trace_members_watch(reader->members, watcher, context, true, true);
}

void trace_reader_decode_ahead(struct trace_reader *reader, unsigned threads)
{
    if (reader->members)
        trace_members_decode_ahead(reader->members, threads);
}

void trace_reader_by_blocks(struct trace_reader *reader, struct block_executions *executions)
{
    if (reader->members)
        trace_members_by_blocks(reader->members, executions);
}

void trace_reader_keep_parts(struct trace_reader *reader)
{
    if (reader->members)
        trace_members_keep_parts(reader->members);
}

uint64_t trace_reader_offset(const struct trace_reader *reader)
{
    return trace_input_offset(reader->input);
}

uint64_t trace_reader_size(const struct trace_reader *reader)
{
    return trace_input_size(reader->input);
}
