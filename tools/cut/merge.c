#include "tools/cut/merge.h"

#include "formats/base/saturating.h"
#include "formats/capture/capture_file.h"
#include "tools/cut/merge_groups.h"
#include "tools/cut/merge_header.h"
#include "tools/cut/merge_parts.h"
#include "tools/cut/stored_trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BATCH_RECORDS CAPTURE_BLOCK_RECORDS /* read at a time from each input */

/* What an input has next. */
enum head { HEAD_HOLE, HEAD_RECORD, HEAD_END };

/* An input. Its position is that of the next record, or the hole before it. */
struct stream {
    struct stored_trace *trace;
    size_t order; /* among the inputs */
    struct batch batch;
    size_t at;
    enum head head;
    uint64_t tick;          /* of the record, of the input's clock */
    uint64_t key;           /* tick of the record or hole in the new file; never decreases */
    uint64_t records;       /* in batches so far */
    unsigned added;         /* to processors */
    bool begun;             /* its first record or hole was next */
    uint64_t processors[4]; /* those of its records: bits */
};

struct merge {
    const struct merge_settings *settings;
    struct merge_clock clock;
    struct merge_input *inputs; /* one for each stream */
    struct stream *streams;
    size_t count;
    size_t waiting; /* number of streams that have not begun */
    struct merge_parts *parts;
    struct stream **heap; /* of streams that are not at their end; the least key first */
    size_t heap_count;
    struct derived_writer *writer;
    struct batch out;   /* records for the writer */
    uint64_t index;     /* of the next record */
    uint64_t last_tick; /* of the last record */
    bool begun;         /* there is one */
};

/* --- the order of inputs --------------------------------------------------------------------- */

static bool precedes(const struct stream *a, const struct stream *b)
{
    return a->key != b->key ? a->key < b->key : a->order < b->order;
}

static void sink_down(struct merge *merge, size_t at)
{
    struct stream **heap = merge->heap;
    for (size_t child; (child = 2 * at + 1) < merge->heap_count; at = child) {
        if (child + 1 < merge->heap_count && precedes(heap[child + 1], heap[child]))
            child++;
        if (!precedes(heap[child], heap[at]))
            return;
        struct stream *moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
    }
}

static void make_heap(struct merge *merge)
{
    for (size_t i = 0; i < merge->count; i++)
        if (merge->streams[i].head != HEAD_END)
            merge->heap[merge->heap_count++] = &merge->streams[i];
    for (size_t i = merge->heap_count; i-- > 0;)
        sink_down(merge, i);
}

/* The first input has another head. */
static void restore_heap(struct merge *merge)
{
    if (merge->heap[0]->head == HEAD_END)
        merge->heap[0] = merge->heap[--merge->heap_count];
    sink_down(merge, 0);
}

/* --- inputs ---------------------------------------------------------------------------------- */

/* Sets the key for a tick of the input. */
static void place(const struct merge *merge, struct stream *stream, uint64_t tick)
{
    const uint64_t key = merge_clock_tick(&merge->clock, &merge->inputs[stream->order], tick);
    stream->key = key > stream->key ? key : stream->key;
}

/* The next record of the batch is the head. */
static void take_record(const struct merge *merge, struct stream *stream)
{
    stream->head = HEAD_RECORD;
    place(merge, stream, stream->tick);
}

/* Whether the batch has something to report before its records. */
static bool has_hole(const struct batch *batch)
{
    return loss_total(&batch->lost) > 0 || batch->gap.milliseconds > 0;
}

/* Reads the next batch of the stream's trace. 1, 0 at the end, or a negative code. */
static int read_batch(struct stream *stream, struct bt_error *error)
{
    for (;;) {
        struct batch description;
        stream->batch.capacity = BATCH_RECORDS;
        batch_clear(&stream->batch);
        int result = stored_trace_peek(stream->trace, &description, error);
        if (result <= STORED_END)
            return result;
        result = stored_trace_next(stream->trace, &stream->batch, error);
        if (result != 0)
            return result;
    }
}

/* The hole before the batch is the head; not after the record that follows, because a loss without
 * records may be known late. */
static void take_hole(const struct merge *merge, struct stream *stream)
{
    const struct batch *batch = &stream->batch;
    uint64_t tick = batch->first_tick;
    if (loss_total(&batch->lost) > 0 && (batch->count == 0 || batch->lost.first_tick < tick))
        tick = batch->lost.first_tick;
    stream->head = HEAD_HOLE;
    place(merge, stream, tick);
}

/* Refuses records that another input has, too: a copy of a file that came through a pipe. Files of
 * one capture have its id and its indices; derived ones have indices of their own. Both inputs
 * reach such a record at one tick, thus with its batches. 0 or BT_USAGE. */
static int check_copies(const struct merge *merge, const struct stream *stream,
                        struct bt_error *error)
{
    const struct merge_input *own = &merge->inputs[stream->order];
    const struct batch *a = &stream->batch;
    for (size_t i = 0; i < merge->count; i++) {
        const struct merge_input *input = &merge->inputs[i];
        const struct batch *b = &merge->streams[i].batch;
        if (i != stream->order && capture_info_same_capture(own->info, input->info) &&
            a->first_index < b->first_index + b->count &&
            b->first_index < a->first_index + a->count)
            return bt_fail(error, BT_USAGE,
                           "%.200s and %.200s both hold record %" PRIu64
                           " of one capture: give each file once",
                           merge->inputs[i < stream->order ? i : stream->order].name,
                           merge->inputs[i < stream->order ? stream->order : i].name,
                           a->first_index > b->first_index ? a->first_index : b->first_index);
    }
    return 0;
}

/* Reads the next records of an input. What is in batches without records is added to the batch that
 * follows. 0 or a negative code. */
static int load(const struct merge *merge, struct stream *stream, struct bt_error *error)
{
    struct batch *batch = &stream->batch;
    struct loss lost = {.first_tick = 0};
    struct gap gap = {.milliseconds = 0};
    int result;
    do {
        result = read_batch(stream, error);
        if (result < 0)
            return result;
        loss_add(&lost, &batch->lost);
        gap_add(&gap, &batch->gap);
    } while (result == 1 && batch->count == 0);
    batch->lost = lost;
    batch->gap = gap;
    if (result == 1 && check_copies(merge, stream, error) < 0)
        return error->code;
    stream->records += batch->count;
    if (result == 0)
        batch->first_tick = stored_trace_tick(stream->trace);
    stream->at = 0;
    stream->tick = batch->first_tick;
    stream->head = HEAD_END;
    if (has_hole(batch))
        take_hole(merge, stream);
    else if (result == 1)
        take_record(merge, stream);
    return 0;
}

/* --- output ---------------------------------------------------------------------------------- */

static int flush(struct merge *merge, struct bt_error *error)
{
    int result = derived_writer_put(merge->writer, &merge->out, error);
    batch_clear(&merge->out);
    return result;
}

/* Whether the merged trace has indices for so many more requests, which damaged captures may claim
 * to have lost. 0 or BT_DATA. */
static int check_room(const struct merge *merge, const struct loss *lost, struct bt_error *error)
{
    return loss_total(lost) <= UINT64_MAX - merge->index
               ? 0
               : bt_fail(error, BT_DATA,
                         "the captures have lost more requests than can be counted");
}

/* Reports a loss or gap of an input at its place; its records follow. What another part of the same
 * capture has reported is left out. */
static int put_hole(struct merge *merge, struct stream *stream, struct bt_error *error)
{
    const struct batch *batch = &stream->batch;
    const struct merge_input *input = &merge->inputs[stream->order];
    const uint64_t first = merge_clock_tick(&merge->clock, input, batch->lost.first_tick);
    const uint64_t last = merge_clock_tick(&merge->clock, input, batch->lost.last_tick);
    struct batch hole = {.lost = batch->lost,
                         .gap = batch->gap,
                         .first_tick = merge->last_tick,
                         .last_tick = merge->last_tick,
                         .host_time_ns = batch->host_time_ns};
    hole.gap.chosen = false; /* it precedes the record */
    merge_parts_take_hole(merge->parts, stream->order, &hole.lost, &hole.gap);
    hole.lost.first_tick = first > stream->key ? first : stream->key;
    hole.lost.last_tick = last > hole.lost.first_tick ? last : hole.lost.first_tick;
    if (loss_total(&hole.lost) == 0)
        hole.lost = (struct loss){.first_tick = 0};
    if (!batch_has_loss_or_gap(&hole))
        return 0;
    if (check_room(merge, &hole.lost, error) < 0)
        return error->code;
    hole.first_index = merge->index += loss_total(&hole.lost);
    int result = flush(merge, error);
    return result < 0 ? result : derived_writer_put(merge->writer, &hole, error);
}

/* Begins a batch of the output with a record. */
static int begin_batch(struct merge *merge, const struct stream *stream, struct bt_error *error)
{
    int result = merge->out.count > 0 ? flush(merge, error) : 0;
    struct batch *out = &merge->out;
    out->first_index = merge->index;
    out->first_tick = stream->key;
    out->host_time_ns = stream->batch.host_time_ns;
    if (stream->at == 0) {
        out->gap.chosen = stream->batch.gap.chosen;
        out->event = stream->batch.event;
    }
    return result;
}

static int refuse_processor(const struct merge *merge, const struct stream *stream, unsigned number,
                            struct bt_error *error)
{
    return bt_fail(error, BT_USAGE,
                   "%.200s has processor %u: --processors %" PRIu64 " leaves no number for it",
                   merge->inputs[stream->order].name, number, merge->settings->processors);
}

/* Appends the stream's next record to the output. */
static int put_record(struct merge *merge, struct stream *stream, struct bt_error *error)
{
    struct record record = stream->batch.records[stream->at];
    const uint64_t passed = stream->key - merge->last_tick;
    const bool marked =
        stream->at == 0 && (stream->batch.gap.chosen || stream->batch.event != EVENT_NONE);
    stream->processors[record.processor / 64] |= UINT64_C(1) << record.processor % 64;
    if (merge->begun)
        record.time = passed < UINT32_MAX ? (uint32_t)passed : UINT32_MAX;
    if (merge->settings->processors > 0) {
        if (record.processor >= merge->settings->processors ||
            record.processor + stream->added > UINT8_MAX)
            return refuse_processor(merge, stream, record.processor, error);
        record.processor = (uint8_t)(record.processor + stream->added);
    }
    if (merge->out.count == 0 || merge->out.count == merge->out.capacity || marked ||
        record.time == UINT32_MAX) {
        int result = begin_batch(merge, stream, error);
        if (result < 0)
            return result;
    }
    merge->out.records[merge->out.count++] = record;
    merge->out.last_tick = merge->last_tick = stream->key;
    merge->begun = true;
    merge->index++;
    return 0;
}

/* Puts the records of the first input until another one precedes it, or its batch is at its end. */
static int put_run(struct merge *merge, struct stream *stream, struct bt_error *error)
{
    struct stream *next = NULL; /* the first of the others */
    if (merge->heap_count > 1)
        next = merge->heap[1];
    if (merge->heap_count > 2 && precedes(merge->heap[2], next))
        next = merge->heap[2];
    do {
        int result = put_record(merge, stream, error);
        if (result < 0)
            return result;
        if (++stream->at == stream->batch.count)
            return load(merge, stream, error);
        stream->tick += stream->batch.records[stream->at].time;
        place(merge, stream, stream->tick);
    } while (!next || precedes(stream, next));
    return 0;
}

/* Whether the next of both are losses that begin at one tick. Their keys differ if one of them is
 * known after the record that follows it. */
static bool same_hole(const struct stream *a, const struct stream *b)
{
    const struct loss *x = &a->batch.lost, *y = &b->batch.lost;
    return a->head == HEAD_HOLE && b->head == HEAD_HOLE && loss_total(x) > 0 && loss_total(y) > 0 &&
           x->first_tick == y->first_tick;
}

/* The inputs whose first record or hole is next begin. next: NULL at the end, where those without
 * any begin. */
static void begin_streams(struct merge *merge, const struct stream *next)
{
    for (size_t i = 0; i < merge->count && merge->waiting > 0; i++) {
        struct stream *stream = &merge->streams[i];
        const bool waits = next && (stream->head == HEAD_END ||
                                    (stream->key > next->key && !same_hole(stream, next)));
        if (stream->begun || waits)
            continue;
        merge_parts_begin(merge->parts, i);
        stream->begun = true;
        merge->waiting--;
    }
}

static int merge_all(struct merge *merge, struct bt_error *error)
{
    make_heap(merge);
    merge->waiting = merge->count;
    while (merge->heap_count > 0) {
        struct stream *stream = merge->heap[0];
        int result = 0;
        if (merge->waiting > 0)
            begin_streams(merge, stream);
        if (stream->head == HEAD_RECORD) {
            result = put_run(merge, stream, error);
        } else {
            result = put_hole(merge, stream, error);
            if (result == 0 && stream->batch.count > 0)
                take_record(merge, stream);
            else if (result == 0)
                result = load(merge, stream, error);
        }
        if (result < 0)
            return result;
        restore_heap(merge);
    }
    return flush(merge, error);
}

/* --- the closing member ---------------------------------------------------------------------- */

/* Adds the losses after the end of an input that no other part of its capture has, and what its
 * source has counted. */
static void add_totals(const struct merge *merge, const struct stream *stream,
                       struct capture_totals *totals)
{
    struct loss after = *stored_trace_lost_after(stream->trace);
    const struct capture_totals *closing = stored_trace_closing(stream->trace);
    const uint64_t tick =
        merge_clock_tick(&merge->clock, &merge->inputs[stream->order], after.last_tick);
    struct merge_part_end part = {
        .records = stream->records,
        .end_index = saturating_add(stored_trace_index(stream->trace), loss_total(&after))};
    struct gap none = {.milliseconds = 0};
    merge_parts_take_hole(merge->parts, stream->order, &after, &none);
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        totals->file_lost[stage] = saturating_add(totals->file_lost[stage], after.count[stage]);
    if (loss_total(&after) > 0 && tick > totals->last_tick)
        totals->last_tick = tick;
    if (totals->source.known &&
        !stored_trace_tells_losses(stream->trace, true, totals->message, sizeof totals->message))
        totals->source.known = false;
    if (closing && closing->final && closing->source.known) {
        part.filtered = closing->source.filtered;
        totals->source.above_4gib =
            saturating_add(totals->source.above_4gib, closing->source.above_4gib);
        totals->source.undecoded =
            saturating_add(totals->source.undecoded, closing->source.undecoded);
    }
    merge_parts_end(merge->parts, stream->order, &part);
}

/* Whether two inputs are captures of different programs. Threads of one, as --split-threads
 * captures them, have one command line and different numbers. */
static bool are_two_programs(const struct merge *merge, size_t i, size_t j)
{
    const struct capture_info *a = merge->inputs[i].info, *b = merge->inputs[j].info;
    uint64_t common = 0;
    for (unsigned k = 0; k < 4; k++)
        common |= merge->streams[i].processors[k] & merge->streams[j].processors[k];
    return strcmp(a->bus, CAPTURE_BUS_PROGRAM) == 0 && strcmp(b->bus, CAPTURE_BUS_PROGRAM) == 0 &&
           memcmp(a->id, b->id, sizeof a->id) != 0 &&
           (strcmp(a->board, b->board) != 0 || common != 0);
}

/* Warns, once, of programs that seem to share their memory in the new file. */
static void warn_of_programs(const struct merge *merge)
{
    struct bt_error warning;
    for (size_t i = 0; i < merge->count; i++)
        for (size_t j = i + 1; j < merge->count; j++)
            if (are_two_programs(merge, i, j)) {
                bt_fail(&warning, BT_NOTE,
                        "%.150s and %.150s are of two programs, whose addresses are their own: in "
                        "the new file both share one memory, so that caches and sharing mean "
                        "nothing",
                        merge->inputs[i].name, merge->inputs[j].name);
                input_report_found(merge->settings->report, &warning);
                return;
            }
}

static int end(struct merge *merge, struct bt_error *error)
{
    struct capture_totals totals = {.end = CAPTURE_END_SOURCE,
                                    .last_tick = merge->last_tick,
                                    .end_index = merge->index,
                                    .source.known = true};
    begin_streams(merge, NULL);
    warn_of_programs(merge);
    for (size_t i = 0; i < merge->count; i++)
        add_totals(merge, &merge->streams[i], &totals);
    totals.source.filtered = merge_parts_filtered(merge->parts);
    struct loss after = {.first_tick = 0};
    memcpy(after.count, totals.file_lost, sizeof after.count);
    if (check_room(merge, &after, error) < 0)
        return error->code;
    return derived_writer_close(merge->writer, &totals, error);
}

/* --- the whole ------------------------------------------------------------------------------- */

/* Finds the offset that the user gives for one of the files. */
static void find_offset(const struct merge *merge, const struct merge_group *group,
                        struct merge_input *input)
{
    for (size_t i = 0; i < merge->settings->offset_count; i++) {
        const struct merge_file_offset *given = &merge->settings->offsets[i];
        for (int j = 0; j < group->count; j++)
            if (strlen(group->paths[j]) == given->length &&
                memcmp(group->paths[j], given->file, given->length) == 0)
                input->offset = given->offset;
    }
}

/* Bytes of an input's files, as far as they are files. */
static uint64_t files_bytes(const struct merge_group *group)
{
    struct stat status;
    uint64_t bytes = 0;
    for (int i = 0; i < group->count; i++)
        if (stat(group->paths[i], &status) == 0 && S_ISREG(status.st_mode))
            bytes += (uint64_t)status.st_size;
    return bytes;
}

static int open_stream(struct merge *merge, size_t i, const struct merge_group *group,
                       struct bt_error *error)
{
    const struct stored_trace_settings reading = {.trace = merge->settings->trace,
                                                  .report = merge->settings->report};
    struct stream *stream = &merge->streams[i];
    stream->order = i;
    stream->added =
        (unsigned)(merge->settings->processors * i < 256 ? merge->settings->processors * i : 256);
    stream->batch.records = malloc(BATCH_RECORDS * sizeof(struct record));
    if (!stream->batch.records)
        return bt_fail(error, BT_MEMORY, "no memory for records of %zu traces", merge->count);
    stream->trace = stored_trace_open(group->count, group->paths, &reading, error);
    if (!stream->trace)
        return error->code;
    merge->inputs[i].name = stored_trace_name(stream->trace);
    merge->inputs[i].info = stored_trace_info(stream->trace);
    merge->inputs[i].bytes = files_bytes(group);
    merge->inputs[i].processors = stream->added;
    find_offset(merge, group, &merge->inputs[i]);
    merge_parts_add(merge->parts, merge->inputs[i].info);
    return 0;
}

static int open_all(struct merge *merge, const struct merge_groups *groups, struct bt_error *error)
{
    merge->count = groups->count;
    merge->streams = calloc(merge->count, sizeof *merge->streams);
    merge->inputs = calloc(merge->count, sizeof *merge->inputs);
    merge->heap = calloc(merge->count, sizeof *merge->heap);
    merge->out.records = malloc(CAPTURE_BLOCK_RECORDS * sizeof(struct record));
    merge->out.capacity = CAPTURE_BLOCK_RECORDS;
    merge->parts = merge_parts_new(merge->count);
    if (!merge->streams || !merge->inputs || !merge->heap || !merge->out.records || !merge->parts)
        return bt_fail(error, BT_MEMORY, "no memory for %zu traces", merge->count);
    for (size_t i = 0; i < merge->count; i++)
        if (open_stream(merge, i, &groups->groups[i], error) < 0)
            return error->code;
    merge->clock.clock_hz = merge->settings->clock_hz;
    merge->clock.by_start = merge->settings->by_start;
    return merge_clock_join(&merge->clock, merge->inputs, merge->count, error);
}

static int run(struct merge *merge, int fd, const char *name, struct bt_error *error)
{
    struct capture_info info;
    if (merge_header_make(&info, &merge->clock, merge->inputs, merge->count, error) < 0)
        return error->code;
    for (size_t i = 0; i < merge->count; i++)
        if (load(merge, &merge->streams[i], error) < 0)
            return error->code;
    merge->writer = derived_writer_new(fd, name, &info, error);
    int result = merge->writer ? merge_all(merge, error) : error->code;
    return result == 0 ? end(merge, error) : result;
}

static void clear(struct merge *merge)
{
    for (size_t i = 0; merge->streams && i < merge->count; i++) {
        stored_trace_free(merge->streams[i].trace);
        free(merge->streams[i].batch.records);
    }
    derived_writer_free(merge->writer);
    free(merge->streams);
    merge_parts_free(merge->parts);
    free(merge->inputs);
    free(merge->heap);
    free(merge->out.records);
}

int merge_run(struct derived_counts *counts, int fd, const char *name, int count, char **paths,
              const struct merge_settings *settings, struct bt_error *error)
{
    struct merge merge = {.settings = settings};
    struct merge_groups groups;
    int status = merge_groups_find(&groups, count, paths, error);
    if (status == 0)
        status = open_all(&merge, &groups, error);
    if (status == 0)
        status = run(&merge, fd, name, error);
    if (status == 0)
        *counts = *derived_writer_counts(merge.writer);
    for (size_t i = 0; i < merge.count && status == 0; i++)
        counts->moved |= merge.inputs[i].later > 0 || merge.inputs[i].clock_hz != counts->clock_hz;
    clear(&merge);
    merge_groups_free(&groups);
    return status;
}
