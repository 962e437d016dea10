#include "tools/common/commands.h"

#include "formats/base/printable.h"
#include "formats/capture/capture_file.h"
#include "formats/record/filter_text.h"
#include "formats/record/record_text.h"
#include "tools/common/output.h"
#include "tools/input/captures.h"
#include "tools/input/gaps.h"
#include "tools/input/trace_set.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* Records formatted at a time: their longest text is what one reservation may have. */
#define DUMP_RECORDS (OUTPUT_RESERVE_MAX / RECORD_TEXT_MAX_BYTES)

struct dump_settings {
    bool csv, json;
    struct transfer_reading reading;
    uint64_t from, count;
    bool filtered;
    struct filter filter;
};

static int take_filter(void *settings, const char *argument, struct bt_error *error)
{
    struct dump_settings *dump = settings;
    dump->filtered = true;
    return filter_parse(&dump->filter, argument, error);
}

static const struct option_row dump_options[] = {
    {OPTION_FLAG, 0, "csv", NULL, "comma separated values, with a heading",
     offsetof(struct dump_settings, csv), NULL},
    {OPTION_FLAG, 0, "json", NULL, "one JSON object a line", offsetof(struct dump_settings, json),
     NULL},
    {OPTION_COUNT, 0, "from", "N", "begin with record N of the files together, 0 is the first",
     offsetof(struct dump_settings, from), NULL},
    {OPTION_COUNT, 'n', "count", "N", "stop N records further on",
     offsetof(struct dump_settings, count), NULL},
    {OPTION_CALL, 'f', "filter", "EXPR",
     "of those, only what matches: 'type=FETCH and processor=0'", 0, take_filter},
    TRANSFER_READING_OPTIONS(struct dump_settings, reading),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* Prints records. */
struct dump_sink {
    struct sink sink;
    struct output *output;
    struct transfer transfer;
    enum record_text form;
    bool filtered;
    struct filter filter;
    struct loss lost;       /* of the file being read */
    uint64_t places;        /* in which that was lost */
    struct trace_set files; /* whose headers were met: only path and info are known */
    const char *path;       /* being read, */
    size_t first;           /* whose first file would be this one */
    struct bt_error full;   /* no memory for files; code 0: there was */
};

/* Prints records[0] to [count - 1], which follow one another. */
static int dump_run(struct dump_sink *dump, const struct record *records, size_t count,
                    uint64_t index, uint64_t tick, struct bt_error *error)
{
    while (count > 0) {
        size_t some = count < DUMP_RECORDS ? count : DUMP_RECORDS;
        char *out = output_reserve(dump->output, some * RECORD_TEXT_MAX_BYTES, error);
        if (!out)
            return error->code;
        output_filled(dump->output, record_text_put(dump->form, out, records, some, index, tick));
        count -= some;
        if (count == 0)
            break;
        /* from the last record printed to the first one not yet */
        if (dump->form != RECORD_TEXT_B2A)
            tick += records_time(records + 1, some);
        records += some;
        index += some;
    }
    return 0;
}

/* Prints those records of a batch that pass the filter, run by run. */
static int dump_matching(struct dump_sink *dump, const struct batch *batch, struct bt_error *error)
{
    uint64_t tick = batch->first_tick;
    size_t i = 0;
    while (i < batch->count) {
        size_t start = i;
        uint64_t start_tick = tick;
        while (i < batch->count && filter_match(&dump->filter, &batch->records[i])) {
            i++;
            tick += i < batch->count ? batch->records[i].time : 0;
        }
        int result = dump_run(dump, batch->records + start, i - start, batch->first_index + start,
                              start_tick, error);
        if (result < 0)
            return result;
        if (i < batch->count) { /* this one does not match */
            i++;
            tick += i < batch->count ? batch->records[i].time : 0;
        }
    }
    return 0;
}

/* Everything in front of it has been printed. */
static void tell_gap(struct dump_sink *dump, const struct batch *batch)
{
    const struct trace_gap place = trace_check_gap(batch);
    char text[GAPS_SENTENCE_BYTES];
    if (!place.gap.chosen && place.gap.milliseconds == 0)
        return;
    progress_clear(&dump->transfer.progress);
    if (place.gap.chosen)
        fprintf(stderr,
                "bustap: %s: instructions before record %" PRIu64 " were left out (chosen)\n",
                PRINTABLE(dump->path), batch->first_index);
    if (place.gap.milliseconds == 0)
        return;
    fprintf(stderr, "bustap: %s: %s\n", PRINTABLE(dump->path), gaps_sentence(text, &place));
}

static int dump_put(struct sink *sink, const struct batch *batch, struct bt_error *error)
{
    struct dump_sink *dump = (struct dump_sink *)sink;
    tell_gap(dump, batch);
    if (loss_total(&batch->lost) > 0) {
        loss_add(&dump->lost, &batch->lost);
        dump->places++;
    }
    int result = dump->filtered ? dump_matching(dump, batch, error)
                                : dump_run(dump, batch->records, batch->count, batch->first_index,
                                           batch->first_tick, error);
    /* what has been read can be seen, however slowly a pipe brings the rest */
    return result < 0 ? result : output_flush(dump->output, error);
}

static int dump_close(struct sink *sink, struct bt_error *error)
{
    struct dump_sink *dump = (struct dump_sink *)sink;
    return output_flush(dump->output, error);
}

static const struct sink_operations dump_operations = {dump_put, dump_close};

static void tell_losses(struct dump_sink *dump, const char *path)
{
    if (dump->places > 0)
        fprintf(stderr, "bustap: %s: %" PRIu64 " requests were lost in %" PRIu64 " %s\n",
                PRINTABLE(path), loss_total(&dump->lost), dump->places,
                dump->places == 1 ? "place" : "places");
    dump->lost = (struct loss){.first_tick = 0};
    dump->places = 0;
}

/* Remembers which file of a capture was met. */
static void note_header(struct dump_sink *dump, const struct capture_info *info)
{
    if (!capture_info_has_id(info) || dump->files.count - dump->first >= TRACE_FILES_MAX)
        return;
    struct trace_file *file = trace_check_add(&dump->files, dump->path, &dump->full);
    if (!file)
        return;
    file->opened = true;
    file->info = *info;
}

static void dump_member(void *context, const struct capture_member *member)
{
    if (member->kind == CAPTURE_MEMBER_HEADER)
        note_header(context, &member->info);
}

/* Files of a capture that are missing between those that were there. */
static void tell_missing(struct dump_sink *dump)
{
    const struct trace_file *files = dump->files.files;
    struct bt_error error;
    trace_set_sort(&dump->files);
    for (size_t i = 1; i < dump->files.count; i++) {
        const struct captures_seam before = {.path = files[i - 1].path, .info = files[i - 1].info};
        const struct captures_seam next = {.path = files[i].path, .info = files[i].info};
        if (captures_check_numbers(&before, &next, &error) < 0)
            transfer_tell(&dump->transfer, &error);
    }
}

/* Prints one file; *from and *left count down over all files. */
static int dump_file(struct dump_sink *dump, const char *path, uint64_t *from, uint64_t *left,
                     struct bt_error *error)
{
    struct transfer *transfer = &dump->transfer;
    struct trace_reader *reader = transfer_open(transfer, path);
    if (!reader)
        return 0;
    dump->path = strcmp(path, "-") == 0 ? "standard input" : path;
    dump->first = dump->files.count;
    note_header(dump, source_info(trace_reader_source(reader)));
    trace_reader_watch(reader, dump_member, dump);
    if (*from > 0) {
        if (trace_reader_seek(reader, *from, error) < 0)
            transfer_tell(transfer, error);
        *from -= trace_reader_position(reader) < *from ? trace_reader_position(reader) : *from;
    }
    int result = transfer_pull(transfer, reader, path, &dump->sink, left, error);
    source_close(trace_reader_source(reader));
    tell_losses(dump, path);
    return result;
}

static int dump_heading(struct dump_sink *dump, struct bt_error *error)
{
    const char *heading = record_text_heading(dump->form);
    char *out = output_reserve(dump->output, strlen(heading), error);
    if (!out)
        return error->code;
    memcpy(out, heading, strlen(heading));
    output_filled(dump->output, strlen(heading));
    return 0;
}

static int dump_files(struct dump_sink *dump, const struct dump_settings *settings,
                      const struct transfer_paths *paths, struct bt_error *error)
{
    struct transfer *transfer = &dump->transfer;
    int result = transfer_begin(transfer, &settings->reading, false, error);
    if (result < 0)
        return command_failure(error);
    uint64_t from = settings->from;
    uint64_t left = settings->count;
    result = dump_heading(dump, error);
    for (int i = 0; i < paths->count && left > 0 && result == 0; i++)
        result = dump_file(dump, paths->paths[i], &from, &left, error);
    if (result == 0)
        result = sink_close(&dump->sink, error);
    /* of what was not wanted to the end, nobody knows what would have come */
    if (result == 0 && left > 0)
        tell_missing(dump);
    if (dump->full.code)
        transfer_tell(transfer, &dump->full);
    if (result < 0 && result != BT_CLOSED)
        transfer_tell(transfer, error);
    transfer_end(transfer);
    return transfer->status;
}

static int dump_main(struct invocation *call)
{
    struct dump_settings settings = {.count = UINT64_MAX};
    struct bt_error error;
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    if (settings.csv && settings.json)
        return command_usage(call, "--csv and --json exclude each other");
    struct dump_sink dump = {.sink.operations = &dump_operations,
                             .form = settings.csv    ? RECORD_TEXT_CSV
                                     : settings.json ? RECORD_TEXT_JSON
                                                     : RECORD_TEXT_B2A,
                             .filtered = settings.filtered,
                             .filter = settings.filter};
    dump.output = output_new(STDOUT_FILENO, "standard output", &error);
    if (!dump.output)
        return command_failure(&error);
    struct transfer_paths paths;
    transfer_take_paths(&paths, call->count, call->arguments);
    status = dump_files(&dump, &settings, &paths, &error);
    output_free(dump.output);
    trace_set_free(&dump.files);
    return status;
}

const struct command dump_command = {
    .name = "dump",
    .operands = "[FILE...]",
    .summary = "print records as text (as b2a does), CSV or JSON lines",
    .details =
        "Prints the records of traces: capture files, raw BYU records, either of them gzipped.\n"
        "Without FILE, or where it is -, standard input is read.",
    .options = dump_options,
    .run = dump_main,
    .group = NULL};
