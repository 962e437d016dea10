#define _GNU_SOURCE /* getrandom */
#include "tools/rondo/wrong_path.h"

#include "formats/base/clock.h"
#include "formats/base/new_file.h"
#include "formats/capture/capture_writer.h"
#include "tools/common/own_stream.h"
#include "tools/common/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct wrong_path {
    int file;
    const char *path;
    struct capture_writer *writer;
    struct record_encoder *encoder;
    uint8_t *member;
    size_t member_bytes;
    struct batch batch; /* records not written to the file yet */
    uint64_t end_index;
    uint64_t tick;  /* of the last record */
    uint64_t right; /* instructions of the right path before the current wrong path */
    bool closed;
    bool begins;  /* the next record is the first one of a path */
    uint64_t gap; /* instructions of the right path that this record's time has to include */
};

static void describe(struct capture_info *info, const char *const *arguments)
{
    *info = (struct capture_info){.file_number = 1, .started_ns = clock_realtime_ns()};
    info->file_started_ns = info->started_ns;
    if (getrandom(info->id, sizeof info->id, 0) != (ssize_t)sizeof info->id)
        memset(info->id, 0, sizeof info->id);
    words_command(info->board, sizeof info->board, arguments);
    snprintf(info->bus, sizeof info->bus, "%s", CAPTURE_BUS_PROGRAM);
}

static int begin(struct wrong_path *wrong, const char *const *arguments, struct bt_error *error)
{
    struct capture_info info;
    wrong->file = own_stream_descriptor(wrong->path, error);
    if (wrong->file < 0)
        return error->code;
    describe(&info, arguments);
    wrong->encoder = record_encoder_new(RECORD_ENGINE_BEST, -1, error);
    if (!wrong->encoder)
        return error->code;
    wrong->writer = capture_writer_new(wrong->file, wrong->path, &info, error);
    if (!wrong->writer)
        return error->code;
    wrong->member_bytes = capture_data_member_bound(CAPTURE_BLOCK_RECORDS);
    wrong->member = malloc(wrong->member_bytes);
    wrong->batch.capacity = CAPTURE_BLOCK_RECORDS;
    wrong->batch.records = malloc(CAPTURE_BLOCK_RECORDS * sizeof *wrong->batch.records);
    return wrong->member && wrong->batch.records
               ? 0
               : bt_fail(error, BT_MEMORY, "no memory for the wrong paths' capture");
}

int wrong_path_new(struct wrong_path **wrong, const char *path, const char *const *arguments,
                   struct bt_error *error)
{
    *wrong = calloc(1, sizeof **wrong);
    if (!*wrong)
        return bt_fail(error, BT_MEMORY, "no memory for the wrong paths' capture");
    (*wrong)->path = path;
    (*wrong)->file = -1;
    int result = begin(*wrong, arguments, error);
    if (result < 0) {
        wrong_path_free(*wrong);
        *wrong = NULL;
    }
    return result;
}

void wrong_path_free(struct wrong_path *wrong)
{
    if (!wrong)
        return;
    capture_writer_free(wrong->writer);
    record_encoder_free(wrong->encoder);
    if (wrong->file >= 0)
        close(wrong->file);
    free(wrong->member);
    free(wrong->batch.records);
    free(wrong);
}

int wrong_path_file(const struct wrong_path *wrong)
{
    return wrong->file;
}

static int flush(struct wrong_path *wrong, struct bt_error *error)
{
    struct batch *batch = &wrong->batch;
    struct own_signals signals;
    size_t size;
    if (batch->count == 0)
        return 0;
    batch->last_tick = wrong->tick;
    batch->host_time_ns = clock_realtime_ns();
    int result = capture_put_data_member(wrong->encoder, batch, wrong->member, wrong->member_bytes,
                                         &size, error);
    own_stream_hold(&signals);
    if (result == 0)
        result = capture_writer_put(wrong->writer, wrong->member, size, batch, error);
    own_stream_release(&signals);
    wrong->end_index += batch->count;
    batch->count = 0;
    return result;
}

void wrong_path_begin(struct wrong_path *wrong, uint64_t instructions)
{
    wrong->gap = instructions - wrong->right;
    wrong->right = instructions;
    wrong->begins = true;
}

/* The first record of a wrong path. A time that does not fit in a record begins a new batch, which
 * stores its tick. */
static int begin_path(struct wrong_path *wrong, struct record *record, struct bt_error *error)
{
    const uint64_t time = record->time + wrong->gap;
    int result = 0;
    if (time >= UINT32_MAX)
        result = flush(wrong, error);
    record->time = time < UINT32_MAX ? (uint32_t)time : UINT32_MAX;
    wrong->tick += time - record->time;
    wrong->begins = false;
    return result;
}

int wrong_path_put(struct wrong_path *wrong, const struct record *records, size_t count,
                   struct bt_error *error)
{
    struct batch *batch = &wrong->batch;
    if (wrong->closed)
        return bt_fail(error, BT_IO,
                       "%s was closed when the program was about to execute another one, which "
                       "failed; nothing that came then is in it",
                       wrong->path);
    for (size_t i = 0; i < count; i++) {
        struct record record = records[i];
        int result = wrong->begins ? begin_path(wrong, &record, error) : 0;
        if (result == 0 && batch->count == batch->capacity)
            result = flush(wrong, error);
        if (result < 0)
            return result;
        wrong->tick += record.time;
        if (batch->count == 0) {
            batch->first_index = wrong->end_index;
            batch->first_tick = wrong->tick;
        }
        batch->records[batch->count++] = record;
    }
    return 0;
}

int wrong_path_close(struct wrong_path *wrong, enum capture_end end, struct bt_error *error)
{
    if (wrong->closed)
        return 0;
    struct own_signals signals;
    wrong->closed = true;
    int result = flush(wrong, error);
    struct capture_totals totals = {.end = end, .final = true};
    totals.capture_records = capture_writer_records(wrong->writer);
    totals.last_tick = wrong->tick;
    totals.source = (struct source_totals){
        .known = true, .seen = wrong->end_index, .accepted = wrong->end_index};
    totals.ended_ns = clock_realtime_ns();
    if (result < 0)
        return result;
    own_stream_hold(&signals);
    result = capture_writer_close(wrong->writer, &totals, error);
    own_stream_release(&signals);
    if (result == 0 && file_synchronise(wrong->file) < 0)
        result = bt_fail_errno(error, "cannot write %s", wrong->path);
    return result;
}
