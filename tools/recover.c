#include "tools/recover.h"

#include "formats/capture_writer.h"
#include "tools/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STATUS_DATA 1

struct recover_settings {
    const char *output;
    bool force;
};

static const struct option_row recover_options[] = {
    {OPTION_TEXT, 'o', "output", "OUT", "the new file; - is standard output",
     offsetof(struct recover_settings, output), NULL},
    {OPTION_FLAG, 0, "force", NULL, "replace OUT if it is there",
     offsetof(struct recover_settings, force), NULL},
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* Writes what is put into it as a new capture file, holes as losses. */
struct recover_sink {
    struct sink sink;
    struct trace_reader *reader;
    int file;
    struct capture_info info;
    struct capture_writer *writer; /* NULL until the first batch tells where the file begins */
    struct deflate_encoder *encoder;
    uint8_t *member;
    uint64_t end_index; /* behind what was written */
    uint64_t last_tick;
    uint64_t blocks;
    struct loss lost;     /* told by the blocks and by us */
    uint64_t missing;     /* of that, found missing by us */
    uint64_t left_out;    /* records that stood twice */
    uint64_t first_index; /* of the file */
};

static int begin_file(struct recover_sink *recover, uint64_t first_index, struct bt_error *error)
{
    static const uint8_t none[CAPTURE_ID_BYTES] = {0};
    recover->info = *source_info(trace_reader_source(recover->reader));
    if (memcmp(recover->info.id, none, sizeof none) == 0) {
        recover->info.first_index = first_index;
        recover->info.file_number = 1;
    }
    recover->first_index = recover->end_index = recover->info.first_index;
    recover->writer = capture_writer_new(recover->file, &recover->info, error);
    return recover->writer ? 0 : error->code;
}

/* What is missing in front of the batch becomes a loss at its place. */
static void mark_hole(struct recover_sink *recover, struct batch *batch, uint64_t start)
{
    struct loss hole = {.first_tick = recover->last_tick};
    hole.last_tick = loss_total(&batch->lost) > 0 ? batch->lost.first_tick : batch->first_tick;
    if (hole.last_tick < hole.first_tick)
        hole.last_tick = hole.first_tick;
    hole.count[LOSS_DISK] = start - recover->end_index;
    recover->missing += hole.count[LOSS_DISK];
    loss_add(&batch->lost, &hole);
}

static int recover_put(struct sink *sink, const struct batch *batch, struct bt_error *error)
{
    struct recover_sink *recover = (struct recover_sink *)sink;
    uint64_t start = batch->first_index - loss_total(&batch->lost);
    if (!recover->writer && begin_file(recover, start, error) < 0)
        return error->code;
    if (start < recover->end_index) {
        recover->left_out += batch->count;
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
    recover->blocks++;
    recover->end_index = batch->first_index + batch->count;
    recover->last_tick = batch->last_tick;
    loss_add(&recover->lost, &block.lost);
    return 0;
}

/*
 * Losses that the closing member told and no block did, then what is missing behind the last block,
 * go to totals->file_lost, which capture_writer_close adds to what the blocks told.
 */
static void close_hole(struct recover_sink *recover, struct capture_totals *totals,
                       const struct capture_totals *was)
{
    uint64_t behind = was->end_index > recover->end_index ? was->end_index - recover->end_index : 0;
    for (int stage = 0; stage < LOSS_STAGES; stage++) {
        uint64_t told = was->file_lost[stage];
        uint64_t more = told > recover->lost.count[stage] ? told - recover->lost.count[stage] : 0;
        totals->file_lost[stage] = more < behind ? more : behind;
        behind -= totals->file_lost[stage];
    }
    totals->file_lost[LOSS_DISK] += behind;
    recover->missing += behind;
}

/* The totals of the new file, from those of the old one where it had any. */
static void make_totals(struct recover_sink *recover, struct capture_totals *totals)
{
    const struct capture_totals *was = trace_reader_closing(recover->reader);
    uint64_t records = capture_writer_records(recover->writer);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *totals = (struct capture_totals){.end = CAPTURE_END_RECOVERED,
                                      .ended_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
                                      .last_tick = recover->last_tick,
                                      .capture_records = records};
    if (was) {
        totals->final = was->final;
        totals->source = was->source;
        totals->after_stop = was->after_stop;
        totals->ended_ns = was->ended_ns;
        totals->last_tick = was->last_tick;
        totals->capture_records = was->capture_records - (was->file_records - records);
        close_hole(recover, totals, was);
    }
    for (int stage = 0; stage < LOSS_STAGES; stage++) {
        uint64_t file_lost = recover->lost.count[stage] + totals->file_lost[stage];
        totals->capture_lost[stage] =
            file_lost + (was ? was->capture_lost[stage] - was->file_lost[stage] : 0);
    }
    snprintf(totals->message, sizeof totals->message,
             "recovered: %" PRIu64 " records saved, %" PRIu64 " requests missing", records,
             recover->missing);
}

static int recover_close(struct sink *sink, struct bt_error *error)
{
    struct recover_sink *recover = (struct recover_sink *)sink;
    struct capture_totals totals;
    if (!recover->writer && begin_file(recover, 0, error) < 0)
        return error->code;
    make_totals(recover, &totals);
    return capture_writer_close(recover->writer, &totals, error);
}

static const struct sink_operations recover_operations = {recover_put, recover_close};

static int make_sink(struct recover_sink *recover, struct bt_error *error)
{
    recover->encoder = deflate_encoder_new(DEFLATE_BEST, -1, error);
    if (!recover->encoder)
        return error->code;
    recover->member = malloc(capture_data_member_bound(CAPTURE_MEMBER_RECORDS_MAX));
    return recover->member ? 0 : bt_fail(error, BT_MEMORY, "no memory for a block");
}

static void free_sink(struct recover_sink *recover)
{
    capture_writer_free(recover->writer);
    deflate_encoder_free(recover->encoder);
    free(recover->member);
}

static void tell_result(const struct recover_sink *recover, const char *output)
{
    fprintf(stderr, "bustap: %s: %" PRIu64 " records in %" PRIu64 " blocks saved", output,
            capture_writer_records(recover->writer), recover->blocks);
    if (recover->missing > 0)
        fprintf(stderr, "; %" PRIu64 " requests are missing, and marked as lost by the disk",
                recover->missing);
    if (recover->left_out > 0)
        fprintf(stderr, "; %" PRIu64 " records that stood twice are left out", recover->left_out);
    fputc('\n', stderr);
}

/* Reads all of path into file. Returns the exit status. */
static int recover_into(const char *path, int file, const char *output)
{
    struct recover_sink recover = {.sink = {&recover_operations}, .file = file};
    struct transfer transfer;
    struct bt_error error;
    int result = transfer_begin(&transfer, false, true, &error);
    if (result < 0)
        return command_failure(&error);
    recover.reader = transfer_open(&transfer, path);
    if (!recover.reader)
        goto out;
    result = make_sink(&recover, &error);
    if (result == 0)
        result = transfer_pull(&transfer, recover.reader, path, &recover.sink, NULL, &error);
    if (result == 0)
        result = sink_close(&recover.sink, &error);
    progress_clear(&transfer.progress);
    if (result == 0) {
        tell_result(&recover, output);
        /* Only the end was missing: everything that was in the file is saved. */
        bool unclosed = !trace_reader_closing(recover.reader);
        if (transfer.status == STATUS_DATA && unclosed && transfer.damaged == 1 &&
            recover.missing == 0)
            transfer.status = 0;
    } else {
        bt_fail_within(&error, "%s", output);
        transfer_tell(&transfer, &error);
    }
    free_sink(&recover);
    source_close(trace_reader_source(recover.reader));
out:
    transfer_end(&transfer);
    return transfer.status;
}

/* Opens the file to write: OUT itself, which must not be there, or OUT.part with --force. */
static int open_output(char *name, size_t size, const struct recover_settings *settings,
                       struct bt_error *error)
{
    snprintf(name, size, settings->force ? "%s.part" : "%s", settings->output);
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (settings->force ? O_TRUNC : O_EXCL);
    int file = open(name, flags, 0666);
    if (file >= 0)
        return file;
    if (errno == EEXIST)
        return bt_fail(error, BT_IO, "%s is there already; --force replaces it", settings->output);
    return bt_fail_errno(error, "cannot write %s", name);
}

/* Puts the complete file on the disk and under its name. */
static int finish_output(const char *name, int file, const struct recover_settings *settings,
                         struct bt_error *error)
{
    if (fsync(file) < 0 && errno != EINVAL)
        return bt_fail_errno(error, "cannot write %s", name);
    if (settings->force && rename(name, settings->output) < 0)
        return bt_fail_errno(error, "cannot rename %s to %s", name, settings->output);
    return 0;
}

static int recover_to_file(const char *path, const struct recover_settings *settings)
{
    char name[4096 + sizeof ".part"];
    struct bt_error error;
    if (strlen(settings->output) > 4096) {
        bt_fail(&error, BT_USAGE, "the name of OUT is too long");
        return command_failure(&error);
    }
    int file = open_output(name, sizeof name, settings, &error);
    if (file < 0)
        return command_failure(&error);
    int status = recover_into(path, file, settings->output);
    if (status > STATUS_DATA)
        unlink(name);
    else if (finish_output(name, file, settings, &error) < 0)
        status = command_failure(&error);
    close(file);
    return status;
}

static int recover_main(struct invocation *call)
{
    struct recover_settings settings = {NULL, false};
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    if (call->count != 1)
        return command_usage(call, call->count == 0 ? "FILE is missing" : "one FILE at a time");
    if (!settings.output)
        return command_usage(call, "-o OUT is missing");
    if (strcmp(settings.output, "-") == 0)
        return recover_into(call->arguments[0], STDOUT_FILENO, "standard output");
    return recover_to_file(call->arguments[0], &settings);
}

const struct command recover_command = {
    "recover",
    "FILE -o OUT",
    "save all whole blocks of a damaged or unfinished file",
    "Writes every whole block of FILE into OUT, a new capture file with header and closing block.\n"
    "What is missing in between is marked as lost at its place. FILE is not changed.",
    recover_options,
    recover_main};
