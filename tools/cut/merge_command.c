#include "tools/common/commands.h"

#include "formats/base/grow.h"
#include "tools/common/options.h"
#include "tools/cut/derived_output.h"
#include "tools/cut/merge.h"

#include <stdlib.h>
#include <string.h>

struct merge_options {
    struct derived_output output;
    struct input_trace_settings trace;
    struct merge_file_offset *offsets;
    size_t offset_count, offset_capacity;
    uint64_t clock_hz;
    uint64_t processors;
    bool by_start;
    struct input_paths paths;
};

/* "FILE=TIME" */
static int take_offset(void *field, const char *argument, struct bt_error *error)
{
    struct merge_options *options = field;
    const char *equals = strrchr(argument, '=');
    if (!equals || equals == argument)
        return bt_fail(error, BT_USAGE,
                       "'%.40s' is not FILE=TIME: b.byu.gz=1.5ms or b.byu.gz=-300ticks are",
                       argument);
    struct merge_file_offset *offsets = grow_array(options->offsets, &options->offset_capacity,
                                                   options->offset_count + 1, sizeof *offsets);
    if (!offsets)
        return bt_fail(error, BT_MEMORY, "no memory for an offset");
    options->offsets = offsets;
    struct merge_file_offset *offset = &offsets[options->offset_count++];
    offset->file = argument;
    offset->length = (size_t)(equals - argument);
    return merge_offset_parse(&offset->offset, equals + 1, error);
}

static const struct option_row merge_options[] = {
    DERIVED_OUTPUT_OPTIONS(struct merge_options, output),
    {OPTION_CALL, 0, "offset", "FILE=TIME",
     "add TIME to the ticks of FILE and its capture: 1.5ms, -300ticks", 0, take_offset},
    {OPTION_FLAG, 0, "by-start", NULL, "place captures by the times at which they started",
     offsetof(struct merge_options, by_start), NULL},
    {OPTION_POSITIVE, 0, "clock", "HZ", "convert ticks to a clock of HZ: 66M",
     offsetof(struct merge_options, clock_hz), NULL},
    {OPTION_POSITIVE, 0, "processors", "N",
     "add N to the processors of the second capture, 2 N to those of the third...",
     offsetof(struct merge_options, processors), NULL},
    INPUT_TRACE_OPTIONS(struct merge_options, trace),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

static int make(void *context, int fd, const char *name, struct input_report *report,
                struct derived_counts *counts, struct bt_error *error)
{
    const struct merge_options *options = context;
    const struct merge_settings settings = {.trace = options->trace,
                                            .offsets = options->offsets,
                                            .offset_count = options->offset_count,
                                            .clock_hz = options->clock_hz,
                                            .by_start = options->by_start,
                                            .processors = options->processors,
                                            .report = report};
    return merge_run(counts, fd, name, options->paths.count, (char **)options->paths.paths,
                     &settings, error);
}

/* Whether each offset names one of the files. */
static bool offsets_fit(const struct merge_options *options, const char **missing)
{
    for (size_t i = 0; i < options->offset_count; i++) {
        const struct merge_file_offset *offset = &options->offsets[i];
        bool found = false;
        for (int j = 0; j < options->paths.count; j++)
            found = found || (strlen(options->paths.paths[j]) == offset->length &&
                              memcmp(options->paths.paths[j], offset->file, offset->length) == 0);
        *missing = offset->file;
        if (!found)
            return false;
    }
    return true;
}

static int merge_checked(struct invocation *call, struct merge_options *options)
{
    const struct derived_maker maker = {.make = make, .context = options};
    const char *missing;
    if (call->count < 2)
        return command_usage(call, "at least two files are required");
    input_paths_take(&options->paths, call->count, call->arguments);
    if (!offsets_fit(options, &missing))
        return command_usage(call, "--offset %.200s: there is no such FILE among the inputs",
                             missing);
    return derived_output_run(call, &options->output, &options->paths, &maker);
}

static int merge_main(struct invocation *call)
{
    struct merge_options options = {.clock_hz = 0};
    int status;
    if (command_options(call, &options, &status))
        status = merge_checked(call, &options);
    free(options.offsets);
    return status;
}

const struct command merge_command = {
    .name = "merge",
    .operands = "FILE FILE... -o OUT",
    .summary = "join captures of one clock in the order of their ticks",
    .details = "Joins the records of several captures into one, in the order of their ticks; "
               "records with the same tick are in the order of the FILEs. Losses keep their "
               "places. Captures of different clocks need --offset or --by-start.",
    .options = merge_options,
    .run = merge_main,
    .group = NULL,
    .reads_captures = true};
