#include "tools/input/trace_check.h"

#include "formats/base/saturating.h"
#include "formats/capture/capture_file.h"
#include "tools/input/trace_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of contradictions reported per file. */
#define REPORTED_MAX 10u

/* Checks and counts the records of a path. */
struct checked_trace {
    struct trace_set *set;
    size_t first;            /* index in the set of the path's first file */
    struct trace_file *file; /* the file being read, NULL before the first */
    const char *path;
    const struct input_trace *trace;
    struct input_report *report;
    struct tally *tally;
    uint64_t offset;      /* offset of the file in the path */
    uint64_t damaged;     /* report->damaged at the beginning of the file */
    uint64_t notes;       /* report->notes at the beginning of the file */
    struct bt_error full; /* no room for another file; code 0: none */
};

/* Assigns the reports since the beginning of the file to it. */
static void end_file(struct checked_trace *check, uint64_t offset)
{
    struct trace_file *file = check->file;
    if (!file)
        return;
    file->bytes = offset - check->offset;
    file->empty = check->trace->reader ? trace_reader_empty(check->trace->reader) : offset == 0;
    file->damaged = check->report->damaged - check->damaged;
    file->notes = check->report->notes - check->notes;
    check->damaged = check->report->damaged;
    check->notes = check->report->notes;
    check->offset = offset;
}

struct trace_gap trace_check_gap(const struct batch *batch)
{
    return (struct trace_gap){.gap = batch->gap,
                              .tick = batch->first_tick,
                              .lost = loss_total(&batch->lost),
                              .host_time_ns = batch->host_time_ns};
}

struct trace_file *trace_check_add(struct trace_set *set, const char *path, struct bt_error *error)
{
    if (set->count == set->capacity) {
        size_t capacity = set->capacity ? 2 * set->capacity : 16;
        struct trace_file *files = realloc(set->files, capacity * sizeof *files);
        if (!files) {
            bt_fail(error, BT_MEMORY, "no memory for %zu files", capacity);
            return NULL;
        }
        set->files = files;
        set->capacity = capacity;
    }
    struct trace_file *file = &set->files[set->count++];
    memset(file, 0, sizeof *file);
    file->path = path;
    return file;
}

/* Begins another file; info is NULL if it has no header. False: no room for another file. */
static bool begin_file(struct checked_trace *check, const struct capture_info *info)
{
    struct trace_file *file = NULL;
    if (check->full.code)
        return false;
    end_file(check, input_trace_offset(check->trace));
    if (check->set->count - check->first >= TRACE_FILES_MAX)
        bt_fail(&check->full, BT_DATA, "%s holds more than %u concatenated files", check->path,
                TRACE_FILES_MAX);
    else
        file = trace_check_add(check->set, check->path, &check->full);
    if (!file)
        return false;
    file->opened = true;
    file->foreign = !check->trace->reader;
    file->kind = file->foreign ? TRACE_RAW : trace_reader_kind(check->trace->reader);
    if (info)
        file->info = *info;
    file->end_index = file->info.first_index;
    file->offset = check->offset;
    check->file = file;
    return true;
}

/* Begins a file if none is open; members after a closing member belong to another one. */
static bool continue_file(struct checked_trace *check)
{
    if (!check->file)
        return begin_file(check, source_info(check->trace->source));
    return check->file->closed ? begin_file(check, NULL) : !check->full.code;
}

/* Reports a contradiction in the member at the reader's position. */
static void contradict(struct checked_trace *check, const struct bt_error *error)
{
    struct trace_file *file = check->file;
    struct bt_error reported;
    uint64_t offset = input_trace_offset(check->trace);
    if (file->contradictions++ == 0)
        snprintf(file->contradiction, sizeof file->contradiction, "offset %" PRIu64 ": %.190s",
                 offset, error->message);
    if (file->contradictions > REPORTED_MAX)
        return;
    bt_fail(&reported, BT_DATA, "%.200s: offset %" PRIu64 ": %.200s%s", file->path, offset,
            error->message,
            file->contradictions == REPORTED_MAX ? "; further contradictions are not reported"
                                                 : "");
    input_report_error(check->report, &reported);
}

/* Whether the batch's indexes continue the previous batch's: false if requests are missing or
 * repeated. */
static bool check_index(struct trace_file *file, const struct batch *batch)
{
    uint64_t start = batch->first_index - loss_total(&batch->lost);
    bool follows = start == file->end_index;
    if (start > file->end_index)
        file->missing += start - file->end_index;
    file->misplaced += start < file->end_index;
    file->end_index = batch->first_index + batch->count;
    return follows;
}

static void count_gap(struct trace_file *file, const struct batch *batch)
{
    file->chosen_gaps += batch->gap.chosen + (uint64_t)batch->parts;
    if (batch->gap.milliseconds == 0)
        return;
    if (file->gaps < TRACE_GAPS_MAX)
        file->gap_places[file->gaps] = trace_check_gap(batch);
    file->gaps++;
    file->uncounted_gaps += batch->gap.uncounted;
    file->gap_ms = saturating_add(file->gap_ms, batch->gap.milliseconds);
}

void trace_check_count(struct trace_file *file, const struct batch *batch)
{
    if (batch->count > 0) {
        if (file->records == 0)
            file->first_tick = batch->first_tick;
        file->last_tick = batch->last_tick;
    }
    file->records += batch->count;
    loss_add(&file->lost, &batch->lost);
    count_gap(file, batch);
}

/* A data member of a capture, whole. */
static void take_data(struct checked_trace *check, const struct batch *batch)
{
    struct trace_file *file = check->file;
    struct bt_error error;
    bool torn = !check_index(file, batch);
    if (trace_rules_data(file, batch, torn, &error) < 0)
        contradict(check, &error);
    trace_check_count(file, batch);
}

/* A batch of any trace. */
static int check_batch(struct checked_trace *check, const struct batch *batch,
                       struct bt_error *error)
{
    if (!continue_file(check)) {
        *error = check->full;
        return error->code;
    }
    if (check->file->kind != TRACE_CAPTURE)
        trace_check_count(check->file, batch);
    if (check->tally)
        tally_add(check->tally, batch->records, batch->count);
    return 0;
}

/* Adds the losses after the last block, which only the closing member counts. */
static void add_final_losses(struct trace_file *file)
{
    const struct capture_totals *totals = &file->totals;
    uint64_t counted = 0;
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        if (totals->file_lost[stage] > file->lost.count[stage]) {
            counted = saturating_add(counted, totals->file_lost[stage] - file->lost.count[stage]);
            file->lost.count[stage] = totals->file_lost[stage];
        }
    /* further counted losses are those of a corrupt block, until now counted as missing */
    uint64_t after = totals->end_index - file->end_index;
    if (totals->end_index < file->end_index)
        file->misplaced++;
    else if (after > counted)
        file->missing += after - counted;
    else
        file->missing -= counted - after < file->missing ? counted - after : file->missing;
    file->end_index = totals->end_index;
}

static void take_closing(struct checked_trace *check, const struct capture_totals *totals)
{
    struct trace_file *file = check->file;
    struct bt_error error;
    bool torn =
        file->missing > 0 || file->misplaced > 0 || check->report->damaged != check->damaged;
    file->closed = true;
    file->totals = *totals;
    file->closing_offset = input_trace_offset(check->trace);
    if (trace_rules_closing(file, torn, &error) < 0)
        contradict(check, &error);
    add_final_losses(file);
}

static void check_member(void *context, const struct capture_member *member)
{
    struct checked_trace *check = context;
    struct bt_error error;
    if (member->kind == CAPTURE_MEMBER_HEADER) {
        if (begin_file(check, &member->info) && trace_rules_header(check->file, &error) < 0)
            contradict(check, &error);
        return;
    }
    if (!continue_file(check))
        return;
    if (member->kind == CAPTURE_MEMBER_DATA)
        take_data(check, &member->batch);
    else
        take_closing(check, &member->totals);
}

/* Reads the trace to its end. 0, or a negative code if no further file can be read. */
static int check_all(struct checked_trace *check, struct record_input *input,
                     struct bt_error *error)
{
    const struct batch *batch;
    struct bt_error broken;
    int more;
    if (check->trace->reader)
        trace_reader_watch_unjudged(check->trace->reader, check_member, check);
    while ((more = record_input_next(input, &batch, &broken)) == 1)
        if (check_batch(check, batch, error) < 0)
            return error->code;
    if (more < 0)
        input_report_error(check->report, &broken);
    if (!check->file)
        begin_file(check, source_info(check->trace->source));
    return 0;
}

int trace_check(struct trace_set *set, const char *path,
                const struct input_trace_settings *settings, struct input_report *report,
                struct tally *tally, struct bt_error *error)
{
    struct checked_trace check = {.set = set,
                                  .first = set->count,
                                  .path = record_input_name(path),
                                  .report = report,
                                  .tally = tally,
                                  .damaged = report->damaged,
                                  .notes = report->notes};
    const struct record_input_settings reading = {
        .trace = *settings, .unthreaded = true, .report = report, .count = UINT64_MAX};
    char *paths[] = {(char *)path};
    struct record_input *input;
    if (record_input_open(&input, 1, paths, &reading, error) < 0) {
        input_report_error(report, error);
        return trace_check_add(set, check.path, error) ? 0 : BT_MEMORY;
    }
    check.trace = record_input_trace(input);
    int result = check_all(&check, input, error);
    uint64_t size = input_trace_size(check.trace);
    end_file(&check, size ? size : input_trace_offset(check.trace));
    if (result == 0 && check.full.code) {
        *error = check.full;
        result = error->code;
    }
    record_input_close(input);
    return result;
}
