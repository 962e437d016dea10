#include "tools/common/commands.h"

#include "formats/base/clock.h"
#include "formats/base/new_file.h"
#include "formats/base/printable.h"
#include "formats/capture/capture_name.h"
#include "formats/capture/capture_writer.h"
#include "tools/common/overwrite.h"
#include "tools/input/record_input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct recover_settings {
    const char *output;
    bool force;
    struct byu_reading reading;
};

static const struct option_row recover_options[] = {
    {OPTION_TEXT, 'o', "output", "OUT", "the new file; - is standard output",
     offsetof(struct recover_settings, output), NULL},
    {OPTION_FLAG, 0, "force", NULL, "replace an existing OUT",
     offsetof(struct recover_settings, force), NULL},
    BYU_READING_OPTIONS(struct recover_settings, reading),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* Sums over all concatenated files. */
struct recover_sums {
    uint64_t files;
    uint64_t blocks;
    uint64_t records;
    uint64_t missing;   /* missing requests that no member counts as lost */
    uint64_t left_out;  /* duplicate records, not saved */
    uint64_t misplaced; /* records in the wrong order, not saved */
};

/* Writes batches as concatenated capture files; missing requests become losses. */
struct recover {
    struct trace_reader *reader;
    int file;
    const char *name; /* name of the file, for messages */
    struct record_encoder *encoder;
    uint8_t *member;
    struct recover_sums sums;
    struct bt_error failed; /* failure to write between two batches; code 0: none */
    /* the capture file being written */
    struct capture_writer *writer; /* NULL before the first */
    struct capture_info info;
    struct capture_totals closing; /* with closed: the closing member read */
    bool closed;                   /* a closing member was read */
    bool ended;         /* the next batch belongs to another file, unless a header denies it */
    uint64_t end_index; /* index after the last record or loss written */
    uint64_t last_tick;
    struct loss lost; /* losses of the blocks, missing requests included */
    uint64_t missing; /* missing requests among them */
};

/* Begins a new file with the header that was read, or with a default one. */
static int begin_file(struct recover *recover, const struct capture_info *info,
                      uint64_t first_index, struct bt_error *error)
{
    if (!capture_info_same_capture(info, &recover->info))
        recover->last_tick = 0;
    recover->info = *info;
    recover->info.version = (uint8_t)record_encoder_version(recover->encoder);
    if (!capture_info_has_id(info)) {
        recover->info.first_index = first_index;
        recover->info.file_number = 1;
    }
    recover->closed = recover->ended = false;
    recover->end_index = recover->info.first_index;
    memset(&recover->lost, 0, sizeof recover->lost);
    recover->missing = 0;
    recover->sums.files++;
    recover->writer = capture_writer_new(recover->file, recover->name, &recover->info, error);
    return recover->writer ? 0 : error->code;
}

/* Marks the records missing before the batch as a loss. */
static void mark_hole(struct recover *recover, struct batch *batch, uint64_t start)
{
    struct loss hole = {.first_tick = recover->last_tick};
    hole.last_tick = loss_total(&batch->lost) > 0 ? batch->lost.first_tick : batch->first_tick;
    if (hole.last_tick < hole.first_tick)
        hole.last_tick = hole.first_tick;
    hole.count[LOSS_DISK] = start - recover->end_index;
    recover->missing += hole.count[LOSS_DISK];
    loss_add(&batch->lost, &hole);
}

/*
 * Adds losses that only the closing member counts, then requests missing after the last block, to
 * totals->file_lost; capture_writer_close adds these to the losses of the blocks.
 */
static void close_hole(struct recover *recover, struct capture_totals *totals,
                       const struct capture_totals *was)
{
    uint64_t after = was->end_index > recover->end_index ? was->end_index - recover->end_index : 0;
    for (int stage = 0; stage < LOSS_STAGES; stage++) {
        uint64_t counted = was->file_lost[stage];
        uint64_t more =
            counted > recover->lost.count[stage] ? counted - recover->lost.count[stage] : 0;
        totals->file_lost[stage] = more < after ? more : after;
        after -= totals->file_lost[stage];
    }
    totals->file_lost[LOSS_DISK] += after;
    recover->missing += after;
}

/* Subtracts the smaller of the two from both. */
static void subtract(uint64_t *count, uint64_t *excess)
{
    uint64_t step = *count < *excess ? *count : *excess;
    *count -= step;
    *excess -= step;
}

/*
 * Sets totals to the records and losses of the capture before this file, from its closing member.
 * If that member is of a later file, whose header is missing, they include part of this file:
 * first_index is the limit.
 */
static void take_before(const struct recover *recover, struct capture_totals *totals,
                        const struct capture_totals *was)
{
    uint64_t sum = totals->capture_records =
        was->capture_records -
        (was->file_records < was->capture_records ? was->file_records : was->capture_records);
    for (int stage = 0; stage < LOSS_STAGES; stage++) {
        uint64_t lost = was->capture_lost[stage];
        totals->capture_lost[stage] =
            lost - (was->file_lost[stage] < lost ? was->file_lost[stage] : lost);
        sum += totals->capture_lost[stage];
    }
    uint64_t first = recover->info.first_index;
    uint64_t excess = sum > first ? sum - first : 0;
    subtract(&totals->capture_records, &excess);
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        subtract(&totals->capture_lost[stage], &excess);
}

/* The totals of the new file, from those of the old one where it had any. */
static void make_totals(struct recover *recover, struct capture_totals *totals)
{
    const struct capture_totals *was = recover->closed ? &recover->closing : NULL;
    uint64_t records = capture_writer_records(recover->writer);
    *totals = (struct capture_totals){.end = CAPTURE_END_RECOVERED,
                                      .ended_ns = clock_realtime_ns(),
                                      .last_tick = recover->last_tick};
    if (was) {
        totals->final = was->final;
        totals->source = was->source;
        totals->after_stop = was->after_stop;
        totals->ended_ns = was->ended_ns;
        totals->last_tick = was->last_tick;
        take_before(recover, totals, was);
        close_hole(recover, totals, was);
    }
    totals->capture_records += records;
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        totals->capture_lost[stage] += recover->lost.count[stage] + totals->file_lost[stage];
}

/* Whether next is the header of the file after the one being written. */
static bool is_next_file(const struct recover *recover, const struct capture_info *next)
{
    return capture_info_same_capture(&recover->info, next) &&
           next->file_number == recover->info.file_number + 1;
}

/* Closes the file that is being written. next: the header that follows, NULL if none does. */
static int end_file(struct recover *recover, const struct capture_info *next,
                    struct bt_error *error)
{
    struct capture_totals totals;
    make_totals(recover, &totals);
    /* without a closing member, the next file's header has its end index */
    if (!recover->closed && next && is_next_file(recover, next) &&
        next->first_index > recover->end_index) {
        uint64_t after = next->first_index - recover->end_index;
        totals.file_lost[LOSS_DISK] = after;
        totals.capture_lost[LOSS_DISK] += after;
        recover->missing += after;
    }
    uint64_t records = capture_writer_records(recover->writer);
    snprintf(totals.message, sizeof totals.message,
             "recovered: %" PRIu64 " records saved, %" PRIu64 " requests missing", records,
             recover->missing);
    int result = capture_writer_close(recover->writer, &totals, error);
    capture_writer_free(recover->writer);
    recover->writer = NULL;
    recover->sums.records += records;
    recover->sums.missing += recover->missing;
    return result;
}

/* Members without records: the end and the beginning of capture files. */
static void recover_member(void *context, const struct capture_member *member)
{
    struct recover *recover = context;
    struct bt_error *error = &recover->failed;
    if (error->code)
        return;
    if (member->kind == CAPTURE_MEMBER_CLOSING) {
        recover->closing = member->totals;
        recover->closed = recover->ended = true;
        return;
    }
    const struct capture_info *info = &member->info;
    int result = 0;
    bool same = recover->writer && recover->info.file_number == info->file_number &&
                capture_info_same_capture(&recover->info, info);
    if (same) {
        /* a copy: its records before end_index are duplicates */
        recover->ended = false;
        return;
    }
    if (recover->writer)
        result = end_file(recover, info, error);
    if (result == 0)
        result = begin_file(recover, info, info->first_index, error);
    if (result == 0)
        error->code = 0;
}

/* Ensures that a file is open for a block that begins with request start. 0 or negative. */
static int continue_file(struct recover *recover, uint64_t start, struct bt_error *error)
{
    static const struct capture_info no_header = {.file_number = 0};
    if (recover->failed.code) {
        *error = recover->failed;
        return error->code;
    }
    if (!recover->writer)
        return begin_file(recover, source_info(trace_reader_source(recover->reader)), start, error);
    if (!recover->ended)
        return 0;
    /* after a closing member another file begins, whose header is missing */
    if (start == recover->end_index) {
        recover->closed = recover->ended = false;
        return 0;
    }
    int result = end_file(recover, NULL, error);
    return result < 0 ? result : begin_file(recover, &no_header, start, error);
}

static int recover_put(struct recover *recover, const struct batch *batch, struct bt_error *error)
{
    uint64_t start = batch->first_index - loss_total(&batch->lost);
    if (continue_file(recover, start, error) < 0)
        return error->code;
    if (start < recover->end_index) {
        /* if nothing was missing so far, all records up to end_index have been written */
        bool twice =
            recover->missing == 0 && batch->first_index + batch->count <= recover->end_index;
        *(twice ? &recover->sums.left_out : &recover->sums.misplaced) += batch->count;
        return 0;
    }
    struct batch block = *batch;
    if (start > recover->end_index)
        mark_hole(recover, &block, start);
    size_t size;
    int result = capture_put_data_member(recover->encoder, &block, recover->member,
                                         capture_data_member_bound(block.count), &size, error);
    if (result == 0)
        result = capture_writer_put(recover->writer, recover->member, size, &block, error);
    if (result < 0)
        return result;
    recover->sums.blocks++;
    recover->end_index = batch->first_index + batch->count;
    recover->last_tick = batch->last_tick;
    loss_add(&recover->lost, &block.lost);
    return 0;
}

static int recover_close(struct recover *recover, struct bt_error *error)
{
    int result = 0;
    if (recover->failed.code || !recover->writer)
        result = continue_file(recover, 0, error);
    return result < 0 ? result : end_file(recover, NULL, error);
}

static int make_encoder(struct recover *recover, struct bt_error *error)
{
    recover->encoder = record_encoder_new(
        capture_name_asks_coded(recover->name) ? RECORD_ENGINE_COLUMNS : RECORD_ENGINE_BEST, -1,
        error);
    if (!recover->encoder)
        return error->code;
    recover->member = malloc(capture_data_member_bound(CAPTURE_MEMBER_RECORDS_MAX));
    return recover->member ? 0 : bt_fail(error, BT_MEMORY, "no memory for a block");
}

static void free_writers(struct recover *recover)
{
    capture_writer_free(recover->writer);
    record_encoder_free(recover->encoder);
    free(recover->member);
}

static void report_result(const struct recover *recover, const char *output)
{
    const struct recover_sums *sums = &recover->sums;
    fprintf(stderr, "bustap: %s: %" PRIu64 " records in %" PRIu64 " %s", PRINTABLE(output),
            sums->records, sums->blocks, sums->blocks == 1 ? "block" : "blocks");
    if (sums->files > 1)
        fprintf(stderr, " of %" PRIu64 " files", sums->files);
    fputs(" saved", stderr);
    if (sums->missing > 0)
        fprintf(stderr, "; %" PRIu64 " requests are missing, and marked as lost by the disk",
                sums->missing);
    if (sums->left_out > 0)
        fprintf(stderr, "; %" PRIu64 " duplicate records are left out", sums->left_out);
    if (sums->misplaced > 0)
        fprintf(stderr, "; %" PRIu64 " records of blocks in the wrong order are NOT saved",
                sums->misplaced);
    fputc('\n', stderr);
}

/* Whether everything was saved: corruption was reported, but only the end was missing. */
static bool saved_all(const struct recover *recover, const struct input_report *report)
{
    bool unclosed = !trace_reader_closing(recover->reader);
    return unclosed && report->damaged == 1 && recover->sums.missing == 0 &&
           trace_reader_kind(recover->reader) == TRACE_CAPTURE;
}

/* Synchronises the new file with the disk and renames it to OUT. 0 or negative. */
static int complete(struct new_file *file, struct bt_error *error)
{
    int result = new_file_synchronise(file, error);
    return result < 0 ? result : new_file_commit(file, error);
}

/* Reads the file to its end and closes the new one. Errors in the input are reported. */
static int recover_all(struct recover *recover, struct record_input *input,
                       struct input_report *report, struct bt_error *error)
{
    const struct batch *batch;
    struct bt_error broken;
    int more;
    while ((more = record_input_next(input, &batch, &broken)) == 1)
        if (recover_put(recover, batch, error) < 0)
            return error->code;
    if (more < 0)
        input_report_error(report, &broken);
    return recover_close(recover, error);
}

/* Reports the result and settles the exit status. */
static void finish(const struct recover *recover, struct input_report *report, const char *output)
{
    bool nothing = recover->sums.blocks == 0 && trace_reader_kind(recover->reader) != TRACE_CAPTURE;
    report_result(recover, output);
    if (report->status == STATUS_DATA && saved_all(recover, report))
        report->status = 0;
    if (report->status == 0 && (nothing || recover->sums.misplaced > 0))
        report->status = STATUS_DATA;
}

/* Reads all of input into file, NULL for standard output. */
static void recover_input(struct record_input *input, struct input_report *report,
                          struct new_file *file, const char *output)
{
    struct recover recover = {.file = file ? new_file_descriptor(file) : STDOUT_FILENO,
                              .name = output,
                              .reader = record_input_trace(input)->reader};
    struct bt_error error;
    trace_reader_watch(recover.reader, recover_member, &recover);
    trace_reader_keep_parts(recover.reader);
    int result = make_encoder(&recover, &error);
    if (result == 0)
        result = recover_all(&recover, input, report, &error);
    progress_clear(&report->progress);
    if (result == 0 && file && report->status <= STATUS_DATA)
        result = complete(file, &error);
    if (result == 0)
        finish(&recover, report, output);
    else if (result != BT_CLOSED) /* ignored: a reader that closed the pipe early */
        input_report_error(report, &error);
    free_writers(&recover);
}

/* Reads all of path into file, NULL for standard output. Returns the exit status. */
static int recover_into(const char *path, const struct byu_reading *reading, struct new_file *file,
                        const char *output)
{
    struct input_report report;
    struct record_input *input;
    struct bt_error error;
    char *paths[] = {(char *)path};
    const struct record_input_settings settings = {.trace.reading = *reading,
                                                   .trace.byu_only = true,
                                                   .unthreaded = true,
                                                   .report = &report,
                                                   .count = UINT64_MAX};
    input_report_begin(&report, true);
    if (record_input_open(&input, 1, paths, &settings, &error) < 0) {
        input_report_error(&report, &error);
        return report.status;
    }
    recover_input(input, &report, file, output);
    record_input_close(input);
    return report.status;
}

static int recover_to_file(const char *path, const struct recover_settings *settings)
{
    struct bt_error error;
    struct new_file *file = overwrite_begin(settings->output, settings->force, &error);
    if (!file)
        return command_failure(&error);
    int status = recover_into(path, &settings->reading, file, settings->output);
    new_file_free(file);
    return status;
}

static int recover_main(struct invocation *call)
{
    struct recover_settings settings = {.output = NULL};
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    if (call->count != 1)
        return command_usage(call, call->count == 0 ? "FILE is missing" : "one FILE at a time");
    if (!settings.output)
        return command_usage(call, "-o OUT is missing");
    struct bt_error error;
    if (overwrite_check(settings.output, 1, call->arguments, "the recovered file", &error) < 0)
        return command_failure(&error);
    if (strcmp(settings.output, "-") == 0)
        return recover_into(call->arguments[0], &settings.reading, NULL, "standard output");
    return recover_to_file(call->arguments[0], &settings);
}

const struct command recover_command = {
    .name = "recover",
    .operands = "FILE -o OUT",
    .summary = "recover all whole blocks of a corrupt or unfinished file",
    .details = "Copies every whole block of FILE to OUT, a new capture file with header and "
               "closing block. Missing records are marked as lost at their place. FILE is not "
               "changed.",
    .options = recover_options,
    .run = recover_main,
    .group = NULL,
    .reads_captures = true};
