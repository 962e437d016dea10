#include "tools/trace_check.h"

#include <string.h>

/* A sink that checks and counts. */
struct check_sink {
    struct sink sink;
    struct trace_file *file;
    struct tally *tally;
    bool begun; /* a batch has come */
};

/* Whether the batch's place follows on the last one's. */
static void check_index(struct check_sink *check, const struct batch *batch)
{
    struct trace_file *file = check->file;
    uint64_t start = batch->first_index - loss_total(&batch->lost);
    bool known = check->begun || file->kind == TRACE_CAPTURE;
    if (known && start > file->end_index)
        file->missing += start - file->end_index;
    if (known && start < file->end_index)
        file->misplaced++;
    file->end_index = batch->first_index + batch->count;
}

/*
 * Whether the batch's ticks follow on the last one's. A record's time counts from the last record
 * that was kept, by the board: where some were lost later, ticks only have to grow.
 */
static void check_ticks(struct check_sink *check, const struct batch *batch, bool gap)
{
    struct trace_file *file = check->file;
    if (batch->count == 0)
        return;
    uint32_t time = batch->records[0].time;
    if (check->begun && file->records > 0) {
        uint64_t passed = batch->first_tick - file->last_tick;
        bool backwards = batch->first_tick < file->last_tick;
        bool exact = !gap && time != UINT32_MAX;
        if (backwards || (exact && passed != time))
            file->breaks++;
    }
    if (file->records == 0)
        file->first_tick = batch->first_tick;
    file->last_tick = batch->last_tick;
}

static int check_put(struct sink *sink, const struct batch *batch, struct bt_error *error)
{
    struct check_sink *check = (struct check_sink *)sink;
    struct trace_file *file = check->file;
    (void)error;
    uint64_t missing = file->missing + file->misplaced;
    check_index(check, batch);
    bool gap = loss_total(&batch->lost) > 0 || file->missing + file->misplaced != missing;
    check_ticks(check, batch, gap);
    check->begun = true;
    file->records += batch->count;
    loss_add(&file->lost, &batch->lost);
    if (check->tally)
        tally_add(check->tally, batch->records, batch->count);
    return 0;
}

static int check_close(struct sink *sink, struct bt_error *error)
{
    (void)sink;
    (void)error;
    return 0;
}

static const struct sink_operations check_operations = {check_put, check_close};

/* What the closing member tells beyond the blocks: losses behind the last one. */
static void take_closing(struct trace_file *file, const struct capture_totals *totals)
{
    file->closed = true;
    file->totals = *totals;
    uint64_t told = 0;
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        if (totals->file_lost[stage] > file->lost.count[stage]) {
            told += totals->file_lost[stage] - file->lost.count[stage];
            file->lost.count[stage] = totals->file_lost[stage];
        }
    /* a loss that a damaged block told of stands in the middle, and is no longer missing there */
    uint64_t behind = totals->end_index - file->end_index;
    if (totals->end_index < file->end_index)
        file->misplaced++;
    else if (behind > told)
        file->missing += behind - told;
    else
        file->missing -= told - behind < file->missing ? told - behind : file->missing;
    file->end_index = totals->end_index;
}

int trace_check(struct trace_file *file, const char *path, struct transfer *transfer,
                struct tally *tally, struct bt_error *error)
{
    memset(file, 0, sizeof *file);
    file->path = strcmp(path, "-") == 0 ? "standard input" : path;
    struct trace_reader *reader = transfer_open(transfer, path);
    if (!reader)
        return 0;
    struct source *source = trace_reader_source(reader);
    uint64_t damaged = transfer->damaged;
    uint64_t notes = transfer->notes;
    file->opened = true;
    file->kind = trace_reader_kind(reader);
    file->info = *source_info(source);
    file->end_index = file->info.first_index;
    struct check_sink check = {{&check_operations}, file, tally, false};
    int result = transfer_pull(transfer, reader, path, &check.sink, NULL, error);
    file->last_number = source_info(source)->file_number;
    file->damaged = transfer->damaged - damaged;
    file->notes = transfer->notes - notes;
    file->bytes =
        trace_reader_size(reader) ? trace_reader_size(reader) : trace_reader_offset(reader);
    if (trace_reader_closing(reader))
        take_closing(file, trace_reader_closing(reader));
    source_close(source);
    return result;
}
