#include "tools/common/commands.h"

#include "formats/base/grow.h"
#include "formats/base/printable.h"
#include "formats/capture/capture_file.h"
#include "tools/common/record_print.h"
#include "tools/input/captures.h"
#include "tools/input/gaps.h"
#include "tools/input/trace_set.h"
#include "tools/symbols/filter_symbols.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct dump_settings {
    bool csv, json;
    struct input_trace_settings reading;
    struct time_range time;
    uint64_t skip, count;
    const char *filter; /* NULL: every record */
    struct module_settings modules;
};

static int take_filter(void *settings, const char *argument, struct bt_error *error)
{
    ((struct dump_settings *)settings)->filter = argument;
    return filter_symbols_check(argument, error);
}

static const struct option_row dump_options[] = {
    OPTION_CSV_ROW(struct dump_settings, csv),
    OPTION_JSON_LINES_ROW(struct dump_settings, json),
    RECORD_INPUT_TIME_OPTION(struct dump_settings, time),
    {OPTION_COUNT, 0, "skip", "N", "of that, skip N records, over all files together",
     offsetof(struct dump_settings, skip), NULL},
    {OPTION_COUNT, 'n', "count", "N", "print N records, then stop",
     offsetof(struct dump_settings, count), NULL},
    {OPTION_CALL, 'f', "filter", "EXPR",
     "of those, print only matching records: 'type=FETCH and processor=0'", 0, take_filter},
    MODULE_OPTIONS(struct dump_settings, modules),
    INPUT_TRACE_OPTIONS(struct dump_settings, reading),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* Prints records. */
struct dump {
    struct record_print print;
    struct input_report report;
    struct expression *filter; /* NULL: none */
    uint64_t *selected;        /* bits of a batch */
    size_t selected_capacity;
    struct loss lost;       /* losses of the path being read */
    uint64_t places;        /* number of batches with a loss */
    struct trace_set files; /* files with a header so far; only path and info are set */
    const char *path;       /* the path being read */
    size_t first;           /* index in `files` of the path's first file */
    struct bt_error full;   /* no memory for `files`; code 0: none */
};

/* Prints the records of a batch that match the filter. */
static int dump_matching(struct dump *dump, const struct batch *batch, struct bt_error *error)
{
    uint64_t *selected = grow_array(dump->selected, &dump->selected_capacity, batch->count / 64 + 1,
                                    sizeof *selected);
    if (!selected)
        return bt_fail(error, BT_MEMORY, "no memory for a filter");
    dump->selected = selected;
    if (expression_select(dump->filter, batch, batch->first_index, selected) == 0)
        return 0;
    return record_print_batch(&dump->print, batch, selected, error);
}

/* Reports the gap before the batch; all records before it have been printed. */
static void report_gap(struct dump *dump, const struct batch *batch)
{
    const struct trace_gap place = trace_check_gap(batch);
    char text[GAPS_SENTENCE_BYTES];
    if (!place.gap.chosen && place.gap.milliseconds == 0)
        return;
    progress_clear(&dump->report.progress);
    if (place.gap.chosen)
        fprintf(stderr,
                "bustap: %s: instructions before record %" PRIu64 " were left out (chosen)\n",
                PRINTABLE(dump->path), batch->first_index);
    if (place.gap.milliseconds == 0)
        return;
    fprintf(stderr, "bustap: %s: %s\n", PRINTABLE(dump->path), gaps_sentence(text, &place));
}

static int dump_batch(struct dump *dump, const struct batch *batch, struct bt_error *error)
{
    report_gap(dump, batch);
    if (loss_total(&batch->lost) > 0) {
        loss_add(&dump->lost, &batch->lost);
        dump->places++;
    }
    int result = dump->filter ? dump_matching(dump, batch, error)
                              : record_print_batch(&dump->print, batch, NULL, error);
    /* print records as they are read, also from a slow pipe */
    return result < 0 ? result : output_flush(dump->print.output, error);
}

static void report_losses(struct dump *dump, const char *path)
{
    if (dump->places > 0)
        fprintf(stderr, "bustap: %s: %" PRIu64 " requests were lost in %" PRIu64 " %s\n",
                PRINTABLE(path), loss_total(&dump->lost), dump->places,
                dump->places == 1 ? "place" : "places");
    dump->lost = (struct loss){.first_tick = 0};
    dump->places = 0;
}

/* Adds a file of a capture to dump->files. */
static void note_header(struct dump *dump, const struct capture_info *info)
{
    if (!capture_info_has_id(info) || dump->files.count - dump->first >= TRACE_FILES_MAX)
        return;
    struct trace_file *file = trace_check_add(&dump->files, dump->path, &dump->full);
    if (!file)
        return;
    file->opened = true;
    file->info = *info;
}

/* Reports files of a capture that are missing between those read. */
static void report_missing(struct dump *dump)
{
    const struct trace_file *files = dump->files.files;
    struct bt_error error;
    trace_set_sort(&dump->files);
    for (size_t i = 1; i < dump->files.count; i++) {
        const struct captures_seam before = {.path = files[i - 1].path, .info = files[i - 1].info};
        const struct captures_seam next = {.path = files[i].path, .info = files[i].info};
        if (captures_check_numbers(&before, &next, &error) < 0)
            input_report_error(&dump->report, &error);
    }
}

static int set_clock(struct dump *dump, const struct capture_info *info, struct bt_error *error)
{
    return dump->filter ? expression_clock(dump->filter, info ? info->clock_hz : 0, error) : 0;
}

/* Prints the records of the input and reports errors in it. Decreases *left by the number of
 * records. 0, or a negative code if printing failed. */
static int dump_input(struct dump *dump, struct record_input *input, uint64_t *left,
                      struct bt_error *error)
{
    const struct batch *batch;
    struct bt_error broken;
    int more;
    while ((more = record_input_next(input, &batch, &broken)) > 0) {
        if (more == RECORD_INPUT_FILE) {
            note_header(dump, record_input_info(input));
            if (set_clock(dump, record_input_info(input), error) < 0)
                return error->code;
            continue;
        }
        *left -= batch->count;
        if (dump_batch(dump, batch, error) < 0)
            return error->code;
    }
    if (more < 0)
        input_report_error(&dump->report, &broken);
    return 0;
}

/* Prints one file. Decreases settings->first and settings->count by the records skipped and read.
 */
static int dump_file(struct dump *dump, char *path, struct record_input_settings *settings,
                     struct bt_error *error)
{
    struct record_input *input;
    dump->path = record_input_name(path);
    dump->first = dump->files.count;
    int result = record_input_open(&input, 1, &path, settings, error);
    if (result < 0)
        return result;
    result = dump_input(dump, input, &settings->count, error);
    if (result == 0)
        settings->first = record_input_to_skip(input);
    record_input_close(input);
    report_losses(dump, path);
    return result;
}

static int dump_files(struct dump *dump, const struct dump_settings *settings,
                      const struct input_paths *paths, struct bt_error *error)
{
    struct record_input_settings reading = {.trace = settings->reading,
                                            .as_stored = true,
                                            .headers = true,
                                            .report = &dump->report,
                                            .time = settings->time,
                                            .first = settings->skip,
                                            .count = settings->count};
    input_report_begin(&dump->report, false);
    int result = record_print_heading(&dump->print, error);
    for (int i = 0; i < paths->count && reading.count > 0 && result == 0; i++)
        result = dump_file(dump, paths->paths[i], &reading, error);
    if (result == 0)
        result = output_flush(dump->print.output, error);
    /* if the count was reached, later files were not read */
    if (result == 0 && reading.count > 0)
        report_missing(dump);
    if (dump->full.code)
        input_report_error(&dump->report, &dump->full);
    if (result < 0 && result != BT_CLOSED)
        input_report_error(&dump->report, error);
    input_report_end(&dump->report);
    return dump->report.status;
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
    if (input_trace_check(&settings.reading, &error) < 0)
        return command_usage(call, "%s", error.message);
    struct dump dump = {.print.form = settings.csv    ? RECORD_TEXT_CSV
                                      : settings.json ? RECORD_TEXT_JSON
                                                      : RECORD_TEXT_B2A,
                        .filter = NULL};
    const struct module_captures captures = {call->arguments, call->count};
    int result = settings.filter ? filter_symbols_parse(&dump.filter, settings.filter,
                                                        &settings.modules, &captures, false, &error)
                                 : 0;
    if (result < 0)
        return result == BT_USAGE ? command_usage(call, "%s", error.message)
                                  : command_failure(&error);
    dump.print.output = output_new(STDOUT_FILENO, "standard output", &error);
    if (!dump.print.output)
        return command_failure(&error);
    struct input_paths paths;
    input_paths_take(&paths, call->count, call->arguments);
    status = dump_files(&dump, &settings, &paths, &error);
    output_free(dump.print.output);
    trace_set_free(&dump.files);
    expression_free(dump.filter);
    free(dump.selected);
    return status;
}

const struct command dump_command = {
    .name = "dump",
    .operands = "[FILE...]",
    .summary = "print records as text (as b2a does), CSV or JSON lines",
    .details = "Prints the records of captures, raw BYU records and traces of other programs "
               "(bustap-convert(1) lists the formats). Without FILE, or if it is -, standard "
               "input is read.",
    .options = dump_options,
    .run = dump_main,
    .group = NULL,
    .reads_captures = true};
