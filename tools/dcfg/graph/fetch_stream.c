#include "tools/dcfg/graph/fetch_stream.h"

#include <stdlib.h>
#include <string.h>

struct fetch_stream {
    struct sink *to;
    const struct images *images;
    struct bus_fetch *bus; /* NULL: not needed yet */
    enum fetch_kind kind;
    struct fetch_stream_counts counts;

    /* state of the current file */
    struct capture_info info;
    bool is_program;    /* an executed program's file */
    bool begun;         /* a file has begun */
    bool placed;        /* end_index is known */
    bool hole;          /* the next record does not follow the previous one */
    uint64_t end_index; /* index after the last record */

    /* sample of fetches that determines the kind */
    struct record sample[FETCH_STREAM_SAMPLE];
    bool hole_before[FETCH_STREAM_SAMPLE];
    size_t sampled;
};

struct fetch_stream *fetch_stream_new(enum fetch_kind kind, const struct images *images,
                                      struct sink *to, struct bt_error *error)
{
    struct fetch_stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        bt_fail(error, BT_MEMORY, "no memory for the stream of fetches");
        return NULL;
    }
    stream->kind = kind;
    stream->to = to;
    stream->images = images;
    return stream;
}

void fetch_stream_free(struct fetch_stream *stream)
{
    if (stream)
        bus_fetch_free(stream->bus);
    free(stream);
}

enum fetch_kind fetch_stream_kind(const struct fetch_stream *stream)
{
    return stream->kind;
}

struct fetch_stream_counts fetch_stream_counts(const struct fetch_stream *stream)
{
    struct fetch_stream_counts counts = stream->counts;
    if (stream->bus)
        counts.bus = bus_fetch_counts(stream->bus);
    return counts;
}

/* --- files and holes --- */

void fetch_stream_file(struct fetch_stream *stream, const struct capture_info *info)
{
    static const struct capture_info nothing;
    const struct capture_info *next = info ? info : &nothing;
    bool follows = stream->placed && capture_info_same_capture(next, &stream->info);
    if (stream->begun && !follows) {
        stream->counts.holes += !stream->hole;
        stream->hole = true;
    }
    stream->placed = follows;
    stream->info = *next;
    stream->is_program = strcmp(next->bus, CAPTURE_BUS_PROGRAM) == 0;
    stream->begun = true;
}

/* Whether a hole precedes the batch. */
static bool find_hole(struct fetch_stream *stream, const struct batch *batch)
{
    uint64_t start = batch->first_index - loss_total(&batch->lost);
    bool missing = stream->placed && start != stream->end_index;
    bool hole = missing || batch_has_loss_or_gap(batch);
    stream->counts.holes += hole && !stream->hole;
    stream->placed = true;
    stream->end_index = batch->first_index + batch->count;
    return hole || stream->hole;
}

/* --- the kind --- */

static bool is_chunk(const struct record *record)
{
    return (record->size == 8 || record->size == 16 || record->size == 32) &&
           record->address % record->size == 0;
}

enum fetch_kind fetch_stream_detect(const struct record *records, size_t count)
{
    size_t chunks = 0;
    for (size_t i = 0; i < count; i++)
        chunks += is_chunk(&records[i]);
    return chunks > count / 2 ? FETCH_BUS : FETCH_INSTR;
}

static int put(struct fetch_stream *stream, struct record *records, size_t count, bool hole,
               struct bt_error *error)
{
    const struct batch batch = {.records = records,
                                .count = count,
                                .capacity = count,
                                .gap = {.milliseconds = hole ? 1 : 0}};
    if (stream->kind != FETCH_BUS || images_count(stream->images) == 0)
        return sink_put(stream->to, &batch, error);
    if (!stream->bus)
        stream->bus = bus_fetch_new(stream->images, stream->to, error);
    return stream->bus ? bus_fetch_put(stream->bus, &batch, error) : BT_MEMORY;
}

/* Puts the sample. */
static int put_sample(struct fetch_stream *stream, struct bt_error *error)
{
    size_t count = stream->sampled;
    int result = 0;
    stream->kind = fetch_stream_detect(stream->sample, count);
    stream->sampled = 0;
    for (size_t first = 0, end; first < count && result == 0; first = end) {
        end = first + 1;
        while (end < count && !stream->hole_before[end])
            end++;
        result =
            put(stream, stream->sample + first, end - first, stream->hole_before[first], error);
    }
    return result;
}

/* Adds to the sample while the kind is unknown. Returns the number of records used. */
static size_t sample(struct fetch_stream *stream, const struct batch *batch)
{
    size_t i = 0;
    while (i < batch->count && stream->sampled < FETCH_STREAM_SAMPLE) {
        const struct record *record = &batch->records[i++];
        if (record->type != REQUEST_FETCH)
            continue;
        stream->hole_before[stream->sampled] = stream->hole;
        stream->sample[stream->sampled++] = *record;
        stream->hole = false;
    }
    return i;
}

/* Puts consecutive records. */
static int put_piece(struct fetch_stream *stream, const struct batch *batch, struct bt_error *error)
{
    size_t taken = 0;
    if (stream->kind == FETCH_AUTO) {
        taken = sample(stream, batch);
        int result = stream->sampled == FETCH_STREAM_SAMPLE ? put_sample(stream, error) : 0;
        if (result != 0 || taken == batch->count)
            return result;
    }
    bool hole = stream->hole;
    stream->hole = false;
    return put(stream, batch->records + taken, batch->count - taken, hole, error);
}

/*
 * An executed program has one tick for each instruction; a larger step means instructions left out.
 */
static bool is_left_out(const struct fetch_stream *stream, const struct record *record)
{
    return stream->is_program && record->type == REQUEST_FETCH && record->time > 1;
}

int fetch_stream_put(struct fetch_stream *stream, const struct batch *batch, struct bt_error *error)
{
    int result = 0;
    stream->hole = find_hole(stream, batch);
    stream->counts.records += batch->count;
    if (batch->count == 0)
        return put_piece(stream, batch, error);
    for (size_t first = 0, end; first < batch->count && result == 0; first = end) {
        for (end = first + 1; end < batch->count && !is_left_out(stream, &batch->records[end]);)
            end++;
        if (is_left_out(stream, &batch->records[first])) {
            stream->counts.holes += !stream->hole;
            stream->hole = true;
        }
        const struct batch piece = {.records = batch->records + first, .count = end - first};
        result = put_piece(stream, &piece, error);
    }
    return result;
}

int fetch_stream_end(struct fetch_stream *stream, struct bt_error *error)
{
    int result = stream->kind == FETCH_AUTO && stream->sampled > 0 ? put_sample(stream, error) : 0;
    return result == 0 && stream->bus ? bus_fetch_end(stream->bus, error) : result;
}
