#include "tools/common/commands.h"

#include "formats/base/new_file.h"
#include "formats/base/printable.h"
#include "tools/common/json_report.h"
#include "tools/common/overwrite.h"
#include "tools/cut/cut.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct cut_options {
    const char *output;
    bool force, json, quiet;
    struct record_input_settings input;
};

static const struct option_row cut_options[] = {
    {OPTION_FILE, 'o', "output", "OUT", "the new file; - is standard output",
     offsetof(struct cut_options, output), NULL},
    {OPTION_FLAG, 0, "force", NULL, "replace an existing OUT", offsetof(struct cut_options, force),
     NULL},
    {OPTION_COUNT, 0, "skip", "N", "skip the first N records",
     offsetof(struct cut_options, input.first), NULL},
    {OPTION_COUNT, 'n', "count", "N", "read N records, then stop",
     offsetof(struct cut_options, input.count), NULL},
    RECORD_INPUT_SELECTION_OPTIONS(struct cut_options, input),
    INPUT_TRACE_OPTIONS(struct cut_options, input.trace),
    OPTION_JSON_ROW(struct cut_options, json),
    {OPTION_FLAG, 'q', "quiet", NULL, "do not print what was saved",
     offsetof(struct cut_options, quiet), NULL},
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

static void print_json(const struct cut_options *options, const struct cut_result *result)
{
    const struct derived_counts *counts = &result->counts;
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return;
    json_text(json, "output", options->output);
    record_input_json(json, &options->input);
    json_count(json, "records", counts->records);
    json_count(json, "lost", loss_total(&counts->lost));
    json_count(json, "filtered", result->removed);
    json_count(json, "first_index", counts->first_index);
    json_count(json, "end_index", counts->end_index);
    json_count(json, "first_tick", counts->first_tick);
    json_count(json, "last_tick", counts->last_tick);
    json_count(json, "clock_hz", result->clock_hz);
    json_count(json, "blocks", counts->blocks);
    json_count(json, "copied_blocks", counts->copied);
    json_count(json, "bytes", counts->bytes);
    json_report_end(json);
}

static void print_text(const char *output, const struct cut_result *result)
{
    const struct derived_counts *counts = &result->counts;
    const uint64_t lost = loss_total(&counts->lost);
    fprintf(stderr, "bustap: %s: %" PRIu64 " %s", PRINTABLE(output), counts->records,
            counts->records == 1 ? "record" : "records");
    if (counts->records > 0)
        fprintf(stderr, ", ticks %" PRIu64 " to %" PRIu64, counts->first_tick, counts->last_tick);
    if (lost > 0)
        fprintf(stderr, ", %" PRIu64 " lost", lost);
    if (result->removed > 0)
        fprintf(stderr, ", %" PRIu64 " not wanted by the filter", result->removed);
    fputc('\n', stderr);
}

/* Cuts into file, NULL for standard output, and gives the file its name. */
static int cut_into(const struct cut_options *options, const struct input_paths *paths,
                    struct input_report *report, struct new_file *file, struct bt_error *error)
{
    const struct cut_settings settings = {.input = options->input, .report = report};
    const char *name = file ? options->output : "standard output";
    struct cut_result cut;
    int result = cut_run(&cut, file ? new_file_descriptor(file) : STDOUT_FILENO, name, paths->count,
                         paths->paths, &settings, error);
    progress_clear(&report->progress);
    if (result == 0 && file)
        result = new_file_commit(file, error);
    if (result < 0)
        return result;
    if (options->json)
        print_json(options, &cut);
    else if (!options->quiet)
        print_text(name, &cut);
    return 0;
}

static int cut_to_output(const struct cut_options *options, const struct input_paths *paths)
{
    struct input_report report;
    struct bt_error error;
    struct new_file *file = NULL;
    int result = overwrite_check(options->output, paths->count, paths->paths, "the cut", &error);
    const bool piped = strcmp(options->output, "-") == 0;
    if (result == 0 && !piped && !(file = overwrite_begin(options->output, options->force, &error)))
        result = error.code;
    if (result < 0)
        return command_failure(&error);
    input_report_begin(&report, !piped);
    result = cut_into(options, paths, &report, file, &error);
    input_report_end(&report);
    new_file_free(file);
    if (result < 0 && result != BT_CLOSED)
        input_report_error(&report, &error);
    else if (result == BT_CLOSED)
        report.status = bt_exit_status(result);
    return report.status;
}

static int cut_main(struct invocation *call)
{
    struct cut_options options = {.input.count = UINT64_MAX};
    struct input_paths paths;
    int status;
    if (!command_options(call, &options, &status))
        return status;
    if (!options.output)
        return command_usage(call, "-o OUT is missing");
    if (options.json && strcmp(options.output, "-") == 0)
        return command_usage(call, "--json and -o - both need standard output");
    input_paths_take(&paths, call->count, call->arguments);
    return cut_to_output(&options, &paths);
}

const struct command cut_command = {
    .name = "cut",
    .operands = "[FILE...] -o OUT",
    .summary = "copy a part of a capture into a new capture file",
    .details = "Copies the records of a time, or a number of them, that match an expression, with "
               "their clock, ticks, indices and losses. FILEs are of one capture, or one trace of "
               "another format. Blocks of a capture that are not wanted are not read. Without "
               "FILE, or if it is -, standard input is read.",
    .options = cut_options,
    .run = cut_main,
    .group = NULL};
