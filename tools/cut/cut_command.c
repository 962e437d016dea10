#include "tools/common/commands.h"

#include "tools/cut/cut.h"
#include "tools/cut/derived_output.h"

struct cut_options {
    struct derived_output output;
    struct record_input_settings input;
    struct input_paths paths;
};

static const struct option_row cut_options[] = {
    DERIVED_OUTPUT_OPTIONS(struct cut_options, output),
    {OPTION_COUNT, 0, "skip", "N", "skip the first N records",
     offsetof(struct cut_options, input.first), NULL},
    {OPTION_COUNT, 'n', "count", "N", "read N records, then stop",
     offsetof(struct cut_options, input.count), NULL},
    RECORD_INPUT_SELECTION_OPTIONS(struct cut_options, input),
    MODULE_OPTIONS(struct cut_options, input.modules),
    INPUT_TRACE_OPTIONS(struct cut_options, input.trace),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

static int make(void *context, int fd, const char *name, struct input_report *report,
                struct derived_counts *counts, struct bt_error *error)
{
    const struct cut_options *options = context;
    const struct cut_settings settings = {.input = options->input, .report = report};
    return cut_run(counts, fd, name, options->paths.count, (char **)options->paths.paths, &settings,
                   error);
}

static void describe(void *context, struct json_put *json)
{
    const struct cut_options *options = context;
    record_input_json(json, &options->input);
}

static int cut_main(struct invocation *call)
{
    struct cut_options options = {.input.count = UINT64_MAX};
    const struct derived_maker maker = {.make = make, .describe = describe, .context = &options};
    int status;
    if (!command_options(call, &options, &status))
        return status;
    input_paths_take(&options.paths, call->count, call->arguments);
    return derived_output_run(call, &options.output, &options.paths, &maker);
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
    .group = NULL,
    .reads_captures = true};
