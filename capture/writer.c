/* The ordered writer: members into files, one after another, and the decisions that depend on
 * bytes: a new file by size, the end by bytes or files, what to do when the disk refuses. */
#include "capture/finisher.h"
#include "capture/stream_output.h"
#include "formats/base/clock.h"
#include "formats/base/thread.h"
#include "formats/capture/capture_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FULL_RETRY_NS INT64_C(1000000000) /* retry interval on a full disk */

struct writer {
    struct capture *capture;
    struct capture_info info; /* of the file that is open */
    struct file_name name;
    int descriptor;                 /* -1: no file is open */
    char path[FILE_SET_PATH_BYTES]; /* of the one that is */
    struct capture_writer *file;
    struct trigger_window window;         /* of the open file */
    uint64_t snapshots;                   /* complete with the next file that is closed */
    struct finished_file closed;          /* the open file after its closing member */
    bool has_data;                        /* the open file holds a data member */
    uint64_t closed_bytes;                /* of the files before */
    uint64_t index;                       /* after the last record or loss that was written */
    uint64_t header_bytes, closing_bytes; /* of the members every file has */
    struct capture_totals totals;         /* of the capture so far */
    struct batch unwritten;               /* what the disk refused: its loss and its gap alone */
    bool stream;                          /* files follow one another on standard output */
    bool sealed;                          /* with stream: nothing more is to be written */
    bool full;                            /* the disk is, and is asked again at retry_ns */
    int64_t retry_ns;                     /* monotonic */
    uint64_t after_stop;                  /* requests after a limit */
    enum capture_end end;                 /* NONE while members are written */
    struct bt_error error;                /* with CAPTURE_END_DISK */
};

/* Publishes the name of the open file. */
static void show_file(struct writer *writer)
{
    struct capture *capture = writer->capture;
    pthread_mutex_lock(&capture->mutex);
    snprintf(capture->status.file, sizeof capture->status.file, "%s", writer->path);
    capture->file_began_ns = clock_monotonic_ns();
    capture->status.compressed_bytes = writer->closed_bytes + capture_writer_bytes(writer->file);
    pthread_mutex_unlock(&capture->mutex);
}

static int open_file(struct writer *writer, struct bt_error *error)
{
    struct capture *capture = writer->capture;
    struct capture_info info = writer->info;
    struct file_name name;
    info.file_number++;
    info.file_started_ns = info.file_number == 1 ? info.started_ns : clock_realtime_ns();
    info.first_index = writer->index;
    int descriptor = file_set_create(capture->files, info.file_number, info.file_started_ns,
                                     info.version == CAPTURE_VERSION_CODED, &name, error);
    if (descriptor < 0)
        return descriptor;
    file_set_path(capture->files, &name, true, writer->path, sizeof writer->path);
    struct capture_writer *file = writer->stream
                                      ? capture_writer_new_by(descriptor, STREAM_OUTPUT_NAME, &info,
                                                              stream_output_write, capture, error)
                                      : capture_writer_new(descriptor, writer->path, &info, error);
    if (!file) {
        file_set_discard(capture->files, &name, descriptor, NULL);
        close(descriptor);
        return error->code;
    }
    writer->info = info;
    writer->name = name;
    writer->descriptor = descriptor;
    writer->file = file;
    writer->has_data = false;
    writer->window = (struct trigger_window){.matches = 0};
    show_file(writer);
    return 0;
}

static struct capture_window window_of(const struct trigger_window *window)
{
    enum capture_window_kind kind = window->matches > 0 ? CAPTURE_WINDOW_MATCHES
                                    : window->snapshots ? CAPTURE_WINDOW_SNAPSHOT
                                                        : CAPTURE_WINDOW_NONE;
    return (struct capture_window){.kind = kind,
                                   .omitted = window->omitted,
                                   .matches = window->matches,
                                   .first_index = window->first_index,
                                   .first_tick = window->first_tick,
                                   .last_index = window->last_index,
                                   .last_tick = window->last_tick};
}

/* Describes the closed file for the finisher. */
static struct finished_file describe(const struct writer *writer,
                                     const struct capture_totals *totals)
{
    struct finished_file file = {.name = writer->name,
                                 .descriptor = writer->descriptor,
                                 .snapshots = writer->snapshots,
                                 .records = totals->file_records,
                                 .reason = capture_end_name(totals->end)};
    if (totals->end == CAPTURE_END_ROTATED && totals->window.kind == CAPTURE_WINDOW_MATCHES)
        file.reason = "match";
    else if (totals->end == CAPTURE_END_ROTATED && totals->window.kind == CAPTURE_WINDOW_SNAPSHOT)
        file.reason = "snapshot";
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        file.lost += totals->file_lost[stage];
    return file;
}

/* Writes the closing member of the open file. 0, or a negative code with the file as it was. */
static int put_closing(struct writer *writer, enum capture_end end, struct bt_error *error)
{
    struct capture_totals totals = writer->totals;
    totals.end = end;
    totals.ended_ns = clock_realtime_ns();
    totals.window = window_of(&writer->window);
    struct capture_totals again = totals;
    int result = capture_writer_close(writer->file, &totals, error);
    if (result == BT_FULL) {
        file_set_release_reserve(writer->capture->files);
        totals = again;
        result = capture_writer_close(writer->file, &totals, error);
    }
    writer->closed = describe(writer, &totals);
    return result;
}

/* Passes the open file to the finisher if its closing member was written. Otherwise the file stays
 * a part file, valid up to its last member. */
static void pass_to_finisher(struct writer *writer, bool closed)
{
    writer->closed_bytes += capture_writer_bytes(writer->file);
    capture_writer_free(writer->file);
    writer->file = NULL;
    if (closed)
        finisher_put(writer->capture->finisher, &writer->closed);
    else
        close(writer->descriptor);
    writer->descriptor = -1;
    pthread_mutex_lock(&writer->capture->mutex);
    writer->capture->status.compressed_bytes = writer->closed_bytes;
    pthread_mutex_unlock(&writer->capture->mutex);
}

/* No more members are written, for this reason. */
static void end_at(struct writer *writer, enum capture_end end)
{
    if (writer->end == CAPTURE_END_NONE) {
        writer->end = end;
        pipeline_halt(writer->capture);
    }
}

static void end_at_disk(struct writer *writer, const struct bt_error *error)
{
    if (writer->end == CAPTURE_END_DISK)
        return;
    writer->end = CAPTURE_END_DISK;
    const char *advice = writer->stream             ? "read faster, or capture to files"
                         : error->code == BT_FULL   ? "free space or choose another disk"
                         : error->code == BT_MEMORY ? "free memory"
                                                    : "correct that or choose another place";
    bt_fail(&writer->error, error->code ? error->code : BT_IO,
            "%.340s; what was written before is kept: %s, and start again", error->message, advice);
    file_set_release_reserve(writer->capture->files);
    pipeline_fail(writer->capture, &writer->error);
}

/* A write failed. The reader of a pipe may end the capture. A full disk is retried later if the
 * settings say so; otherwise the capture ends.
 */
static void refuse(struct writer *writer, int code, const struct bt_error *error)
{
    if (code == BT_CLOSED) {
        pipeline_note(writer->capture, "%.300s: the capture ends", error->message);
        writer->sealed = true;
        end_at(writer, CAPTURE_END_STOPPED);
        return;
    }
    if (code != BT_FULL || !writer->capture->settings.wait_for_room) {
        end_at_disk(writer, error);
        return;
    }
    if (!writer->full)
        pipeline_note(writer->capture, "%.300s; requests are lost until there is room",
                      error->message);
    writer->full = true;
    writer->retry_ns = clock_monotonic_ns() + FULL_RETRY_NS;
}

/* In a stream the closing member of the previous file comes first. */
static int change_within_stream(struct writer *writer, struct writer *before,
                                struct bt_error *error)
{
    int result = put_closing(before, CAPTURE_END_ROTATED, error);
    if (result < 0)
        return result;
    result = open_file(writer, error);
    if (result < 0)
        writer->sealed = true; /* the stream ends with a whole file, which is not the last one */
    if (result == BT_FULL)
        result = BT_IO; /* it is not tried again */
    return result;
}

/* Opens the next file, then closes the previous one, whose state is in before. In this order, a
 * failure to open is recorded in the closing member of the previous file. 0, or a negative code; if
 * the capture waits for room, the previous file then stays open. */
static int change_files(struct writer *writer, struct writer *before, struct bt_error *error)
{
    if (writer->stream)
        return change_within_stream(writer, before, error);
    int result = open_file(writer, error);
    if (result < 0)
        return result;
    result = put_closing(before, CAPTURE_END_ROTATED, error);
    if (result != BT_FULL || !writer->capture->settings.wait_for_room)
        return result;
    file_set_discard(writer->capture->files, &writer->name, writer->descriptor, NULL);
    close(writer->descriptor);
    capture_writer_free(writer->file);
    *writer = *before;
    show_file(writer);
    return result;
}

/* A new file, for a member of next_size bytes. */
static void rotate(struct writer *writer, size_t next_size)
{
    const struct capture_settings *settings = &writer->capture->settings;
    uint64_t bytes = writer->closed_bytes + capture_writer_bytes(writer->file) +
                     2 * writer->closing_bytes + writer->header_bytes + next_size;
    if ((settings->stop_files && writer->info.file_number >= settings->stop_files) ||
        (settings->stop_bytes && bytes > settings->stop_bytes)) {
        end_at(writer, CAPTURE_END_LIMIT);
        return;
    }
    struct bt_error error = {0};
    struct writer before = *writer;
    int result = change_files(writer, &before, &error);
    if (result < 0)
        refuse(writer, result, &error);
    if (writer->descriptor == before.descriptor)
        return;
    pass_to_finisher(&before, result == 0);
    writer->closed_bytes = before.closed_bytes;
    if (result == 0)
        file_set_take_reserve(writer->capture->files); /* that member may have needed it */
}

static void add_counts(uint64_t counts[LOSS_STAGES], const struct loss *loss)
{
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        counts[stage] += loss->count[stage];
}

/* A batch that could not be written: its records are lost at stage disk, its losses keep theirs. */
static void count_unwritten(struct writer *writer, const struct batch *batch)
{
    struct batch *unwritten = &writer->unwritten;
    const struct gap within = {.chosen = batch->parts > 0};
    struct loss refused = {.first_tick = batch->first_tick, .last_tick = batch->last_tick};
    refused.count[LOSS_DISK] = batch->count;
    loss_add(&refused, &batch->lost);
    pipeline_lost(writer->capture, &refused);
    loss_add(&unwritten->lost, &refused);
    gap_add(&unwritten->gap, &batch->gap);
    gap_add(&unwritten->gap, &within);
    unwritten->first_index = batch->first_index + batch->count;
    unwritten->first_tick = unwritten->last_tick = batch->last_tick;
}

static void publish(struct writer *writer)
{
    struct capture *capture = writer->capture;
    pthread_mutex_lock(&capture->mutex);
    struct capture_status *status = &capture->status;
    status->records = writer->totals.capture_records;
    status->raw_bytes = status->records * RECORD_BYTES;
    status->compressed_bytes = writer->closed_bytes + capture_writer_bytes(writer->file);
    status->last_tick = writer->totals.last_tick;
    memcpy(status->lost, writer->totals.capture_lost, sizeof status->lost);
    if (writer->full)
        add_counts(status->lost, &writer->unwritten.lost);
    pthread_mutex_unlock(&capture->mutex);
}

/* Appends a whole member to the open file and counts it. 0 or a negative code. */
static int append(struct writer *writer, const uint8_t *member, size_t size,
                  const struct batch *batch, struct bt_error *error)
{
    int result = capture_writer_put(writer->file, member, size, batch, error);
    if (result < 0)
        return result;
    writer->has_data = true;
    writer->index = batch->first_index + batch->count;
    writer->totals.capture_records += batch->count;
    writer->totals.last_tick = batch->last_tick;
    add_counts(writer->totals.capture_lost, &batch->lost);
    return 0;
}

/* The first batch after a full disk carries the loss in between. */
static void end_full(struct writer *writer)
{
    pipeline_note(writer->capture,
                  "there is room on the disk again; %" PRIu64 " requests were lost",
                  loss_total(&writer->unwritten.lost));
    batch_clear(&writer->unwritten);
    writer->full = false;
    file_set_take_reserve(writer->capture->files);
}

static uint64_t batch_requests(const struct batch *batch)
{
    return batch->count + loss_total(&batch->lost);
}

static void write_member(struct writer *writer, const struct queue_member *member)
{
    struct bt_error error = member->error;
    int result = member->result;
    struct batch batch = member->batch;
    if (result == 0 && writer->full) {
        loss_add(&batch.lost, &writer->unwritten.lost);
        gap_add(&batch.gap, &writer->unwritten.gap);
        capture_restate_data_member(member->bytes, &batch);
    }
    if (result == 0)
        result = append(writer, member->bytes, member->size, &batch, &error);
    if (result < 0) {
        refuse(writer, result, &error);
        if (result == BT_CLOSED)
            writer->after_stop += batch_requests(&member->batch);
        else
            count_unwritten(writer, &member->batch);
    } else {
        writer->window = member->window;
        pipeline_lost(writer->capture, &member->batch.lost);
        if (writer->full)
            end_full(writer);
    }
    publish(writer);
}

/* Makes room for a member of size bytes where the settings limit files or the capture. */
static void make_room(struct writer *writer, size_t size)
{
    const struct capture_settings *settings = &writer->capture->settings;
    uint64_t with_it = capture_writer_bytes(writer->file) + size + writer->closing_bytes;
    bool first_of_all = writer->info.file_number == 1 && !writer->has_data;
    if (settings->stop_bytes && !first_of_all &&
        writer->closed_bytes + with_it > settings->stop_bytes)
        end_at(writer, CAPTURE_END_LIMIT);
    else if (settings->rotate_bytes && writer->has_data && with_it > settings->rotate_bytes)
        rotate(writer, size);
}

/* Whether it is of no use to ask the disk now. */
static bool is_hopeless(const struct writer *writer)
{
    return writer->full && clock_monotonic_ns() < writer->retry_ns;
}

static void take_member(struct writer *writer, const struct queue_member *member)
{
    bool something = member->batch.count > 0 || batch_has_loss_or_gap(&member->batch);
    if (member->rotate)
        writer->snapshots = member->snapshots;
    if (writer->end == CAPTURE_END_NONE && member->rotate && !is_hopeless(writer))
        rotate(writer, member->size);
    if (writer->end == CAPTURE_END_NONE && something && !is_hopeless(writer))
        make_room(writer, member->size);
    if (!something)
        return;
    if (writer->end == CAPTURE_END_NONE && !is_hopeless(writer)) {
        write_member(writer, member);
    } else if (writer->end == CAPTURE_END_NONE || writer->end == CAPTURE_END_DISK) {
        count_unwritten(writer, &member->batch);
        publish(writer);
    } else {
        writer->after_stop += batch_requests(&member->batch);
    }
}

/* The counts of a source that did not reach its end are not final. If the number of missing records
 * is unknown, the remark always has a text. */
static void judge_source(struct source_totals *source, struct reading_end *reading)
{
    if (!reading->source_ended)
        source->known = false;
    if (!source->known && reading->remark.code == 0)
        bt_fail(&reading->remark, BT_DATA,
                "the board did not say how many requests it accepted; some may be missing");
}

/* The end of a capture in its status. Without the source's count it did not fail, but something may
 * be missing. */
static void publish_end(struct writer *writer, enum capture_end end,
                        const struct reading_end *reading)
{
    struct capture_status *status = &writer->capture->status;
    pthread_mutex_lock(&writer->capture->mutex);
    status->end = end;
    status->after_stop = writer->totals.after_stop;
    status->source = writer->totals.source;
    if (!status->source.known && !status->failed) {
        status->error = reading->remark;
        status->error.code = BT_DATA;
    }
    pthread_mutex_unlock(&writer->capture->mutex);
}

static void put_message(struct writer *writer, const struct reading_end *reading)
{
    struct capture_totals *totals = &writer->totals;
    const struct loss *lost = &writer->unwritten.lost;
    uint64_t refused = loss_total(lost);
    if (refused > 0)
        snprintf(totals->message, sizeof totals->message,
                 "%" PRIu64 " requests from tick %" PRIu64 " to %" PRIu64 " lost: %.80s", refused,
                 lost->first_tick, lost->last_tick,
                 writer->end == CAPTURE_END_DISK ? writer->error.message : "the disk was full");
    else if (writer->end == CAPTURE_END_DISK)
        snprintf(totals->message, sizeof totals->message, "%.159s", writer->error.message);
    else if (reading->remark.code)
        snprintf(totals->message, sizeof totals->message, "%.159s", reading->remark.message);
}

/* The last file, and the totals of the whole capture. */
static void end_capture(struct writer *writer)
{
    struct capture *capture = writer->capture;
    pthread_mutex_lock(&capture->mutex);
    struct reading_end reading = capture->reading;
    struct source_totals source = capture->status.source;
    struct bt_error failure = capture->status.error;
    bool failed_elsewhere = capture->status.failed && writer->end != CAPTURE_END_DISK;
    pthread_mutex_unlock(&capture->mutex);
    struct bt_error error = {0};
    if (failed_elsewhere)
        end_at_disk(writer, &failure); /* the finisher's */
    struct capture_totals *totals = &writer->totals;
    enum capture_end end = writer->end != CAPTURE_END_NONE ? writer->end : reading.end;
    totals->final = true;
    totals->after_stop = reading.after_stop + writer->after_stop;
    totals->source = source;
    writer->full = false; /* from here on it is in the totals */
    add_counts(totals->capture_lost, &writer->unwritten.lost);
    add_counts(totals->file_lost, &writer->unwritten.lost);
    judge_source(&totals->source, &reading);
    put_message(writer, &reading);
    publish(writer);
    if (end == CAPTURE_END_DEVICE)
        pipeline_fail(capture, &reading.remark);
    int result = writer->sealed ? 0 : put_closing(writer, end, &error);
    if (result < 0 && result != BT_CLOSED) {
        end = CAPTURE_END_DISK;
        pipeline_fail(capture, &error);
    }
    pass_to_finisher(writer, result == 0);
    publish_end(writer, end, &reading);
}

void *writer_run(void *argument)
{
    struct writer *writer = argument;
    struct queue *queue = writer->capture->queue;
    thread_set_name("writer");
    for (struct queue_member *member = queue_take_member(queue); member;
         member = queue_take_member(queue)) {
        take_member(writer, member);
        queue_release(queue, member);
    }
    end_capture(writer);
    finisher_join(writer->capture->finisher);
    file_set_unlock(writer->capture->files);
    pipeline_ended(writer->capture);
    return NULL;
}

struct writer *writer_new(struct capture *capture, struct bt_error *error)
{
    struct writer *writer = calloc(1, sizeof *writer);
    if (!writer) {
        bt_fail(error, BT_MEMORY, "no memory for a capture's writer");
        return NULL;
    }
    uint8_t member[CAPTURE_MEMBER_HEADER_MAX];
    writer->capture = capture;
    writer->info = capture->info;
    writer->stream = stream_output_is_named(capture->settings.prefix);
    writer->index = capture->info.first_index;
    writer->descriptor = -1;
    writer->header_bytes = capture_put_header_member(member, &writer->info);
    writer->closing_bytes =
        capture_put_closing_member(member, &writer->totals, writer->info.version);
    if (open_file(writer, error) < 0) {
        writer_free(writer, true);
        return NULL;
    }
    return writer;
}

void writer_free(struct writer *writer, bool discard)
{
    if (!writer)
        return;
    if (writer->descriptor >= 0) {
        if (discard)
            file_set_discard(writer->capture->files, &writer->name, writer->descriptor, NULL);
        close(writer->descriptor);
    }
    capture_writer_free(writer->file);
    free(writer);
}
