#include "tools/input/transfer.h"

#include "formats/base/printable.h"
#include "formats/capture/capture_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A whole block of a capture file fits, so that it is decompressed right into the batch. */
#define TRANSFER_RECORDS CAPTURE_BLOCK_RECORDS
/* Other traces come in pieces that stay in the processor's nearest cache. */
#define TRANSFER_RECORDS_RAW 2048u

unsigned transfer_flags(const struct transfer_reading *reading)
{
    return TRACE_OPTIONS | (reading->lp64 ? TRACE_LP64 : 0u) | (reading->raw ? TRACE_INSIST : 0u);
}

int transfer_begin(struct transfer *transfer, const struct transfer_reading *reading,
                   bool quiet_output, struct bt_error *error)
{
    memset(transfer, 0, sizeof *transfer);
    transfer->reading = reading ? transfer_flags(reading) : 0;
    transfer->batch.records = malloc(TRANSFER_RECORDS * sizeof(struct record));
    if (!transfer->batch.records)
        return bt_fail(error, BT_MEMORY, "no memory for %u records", TRANSFER_RECORDS);
    transfer->batch.capacity = TRANSFER_RECORDS;
    progress_begin(&transfer->progress, quiet_output);
    return 0;
}

void transfer_end(struct transfer *transfer)
{
    progress_clear(&transfer->progress);
    free(transfer->batch.records);
}

void transfer_tell(struct transfer *transfer, const struct bt_error *error)
{
    progress_clear(&transfer->progress);
    fprintf(stderr, "bustap: %s\n", error->message);
    int status = bt_exit_status(error->code);
    if (status > transfer->status)
        transfer->status = status;
}

void transfer_tell_input(struct transfer *transfer, const struct bt_error *error)
{
    if (error->code == BT_DATA && transfer->told == TRANSFER_TOLD_MAX) {
        transfer->untold++; /* the first one has raised the exit status */
        return;
    }
    transfer->told += error->code == BT_DATA;
    transfer_tell(transfer, error);
}

void transfer_end_file(struct transfer *transfer, const char *path)
{
    if (transfer->untold > 0) {
        progress_clear(&transfer->progress);
        fprintf(stderr, "bustap: %s: %" PRIu64 " more %s damaged\n",
                strcmp(path, "-") == 0 ? "standard input" : PRINTABLE(path), transfer->untold,
                transfer->untold == 1 ? "place is" : "places are");
    }
    transfer->told = 0;
    transfer->untold = 0;
}

struct trace_reader *transfer_open(struct transfer *transfer, const char *path)
{
    struct bt_error error;
    struct trace_reader *reader;
    if (trace_reader_open(&reader, path, transfer->reading, &error) == 0)
        return reader;
    transfer_tell(transfer, &error);
    return NULL;
}

static int pull(struct transfer *transfer, struct trace_reader *reader, const char *path,
                struct sink *sink, uint64_t *left, struct bt_error *error)
{
    struct source *source = trace_reader_source(reader);
    struct batch *batch = &transfer->batch;
    size_t piece =
        trace_reader_kind(reader) == TRACE_CAPTURE ? TRANSFER_RECORDS : TRANSFER_RECORDS_RAW;
    while (!left || *left > 0) {
        batch->capacity = left && *left < piece ? (size_t)*left : piece;
        struct bt_error told;
        int result = source_next(source, batch, -1, &told);
        if (result == 0)
            return 0;
        if (result < 0) {
            transfer->damaged += result == BT_DATA;
            transfer->notes += result == BT_NOTE;
            transfer_tell_input(transfer, &told);
            if (result == BT_DATA || result == BT_NOTE)
                continue;
            return 0;
        }
        if (left)
            *left -= batch->count;
        result = sink_put(sink, batch, error);
        if (result < 0)
            return result;
        progress_show(&transfer->progress, path, trace_reader_offset(reader),
                      trace_reader_size(reader));
    }
    return 0;
}

int transfer_pull(struct transfer *transfer, struct trace_reader *reader, const char *path,
                  struct sink *sink, uint64_t *left, struct bt_error *error)
{
    int result = pull(transfer, reader, path, sink, left, error);
    transfer_end_file(transfer, path);
    return result;
}

void transfer_take_paths(struct transfer_paths *paths, int count, char **operands)
{
    memcpy(paths->dash, "-", sizeof paths->dash);
    paths->only[0] = paths->dash;
    paths->count = count > 0 ? count : 1;
    paths->paths = count > 0 ? operands : paths->only;
}
