#include "tools/cut/derived_output.h"

#include "formats/base/new_file.h"
#include "formats/base/printable.h"
#include "tools/common/json_report.h"
#include "tools/common/overwrite.h"
#include "tools/input/distinct_files.h"
#include "tools/symbols/module_list_copy.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static void print_json(const struct derived_output *output, const struct derived_counts *counts,
                       const struct derived_maker *maker)
{
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return;
    json_text(json, "output", output->output);
    if (maker->describe)
        maker->describe(maker->context, json);
    json_count(json, "records", counts->records);
    json_count(json, "lost", loss_total(&counts->lost));
    json_count(json, "filtered", counts->filtered);
    json_count(json, "first_index", counts->first_index);
    json_count(json, "end_index", counts->end_index);
    json_count(json, "first_tick", counts->first_tick);
    json_count(json, "last_tick", counts->last_tick);
    json_count(json, "clock_hz", counts->clock_hz);
    json_count(json, "blocks", counts->blocks);
    json_count(json, "copied_blocks", counts->copied);
    json_count(json, "bytes", counts->bytes);
    json_report_end(json);
}

static void print_text(const char *output, const struct derived_counts *counts)
{
    const uint64_t lost = loss_total(&counts->lost);
    fprintf(stderr, "bustap: %s: %" PRIu64 " %s", PRINTABLE(output), counts->records,
            counts->records == 1 ? "record" : "records");
    if (counts->records > 0)
        fprintf(stderr, ", ticks %" PRIu64 " to %" PRIu64, counts->first_tick, counts->last_tick);
    if (lost > 0)
        fprintf(stderr, ", %" PRIu64 " lost", lost);
    if (counts->filtered > 0)
        fprintf(stderr, ", %" PRIu64 " not wanted by the filter", counts->filtered);
    fputc('\n', stderr);
}

/* Gives the file its name, and a list of modules. 0 or a negative code. */
static int commit(const struct derived_output *output, const struct input_paths *inputs,
                  const struct derived_counts *counts, struct input_report *report,
                  struct new_file *file, struct bt_error *error)
{
    int result = new_file_commit(file, error);
    if (result == 0)
        result = module_list_copy(inputs->count, inputs->paths, output->output, counts->moved,
                                  output->force, error);
    if (result != BT_NOTE)
        return result;
    input_report_found(report, error);
    return 0;
}

/* Writes into file, NULL for standard output. 0 or a negative code. */
static int make_into(const struct derived_output *output, const struct input_paths *inputs,
                     const struct derived_maker *maker, struct input_report *report,
                     struct new_file *file, struct bt_error *error)
{
    const char *name = file ? output->output : "standard output";
    struct derived_counts counts;
    int result = maker->make(maker->context, file ? new_file_descriptor(file) : STDOUT_FILENO, name,
                             report, &counts, error);
    progress_clear(&report->progress);
    if (result == 0 && file)
        result = commit(output, inputs, &counts, report, file, error);
    if (result < 0)
        return result;
    if (output->json)
        print_json(output, &counts, maker);
    else if (!output->quiet)
        print_text(name, &counts);
    return 0;
}

int derived_output_run(const struct invocation *call, const struct derived_output *output,
                       const struct input_paths *inputs, const struct derived_maker *maker)
{
    struct input_report report;
    struct bt_error error;
    struct new_file *file = NULL;
    if (!output->output)
        return command_usage(call, "-o OUT is missing");
    const bool piped = strcmp(output->output, "-") == 0;
    if (output->json && piped)
        return command_usage(call, "--json and -o - both need standard output");
    int result = distinct_files_check(inputs->count, inputs->paths, &error);
    if (result == 0)
        result = overwrite_check(output->output, inputs->count, inputs->paths, "OUT", &error);
    if (result == 0 && !piped && !(file = overwrite_begin(output->output, output->force, &error)))
        result = error.code;
    if (result < 0)
        return command_failure(&error);
    input_report_begin(&report, !piped);
    result = make_into(output, inputs, maker, &report, file, &error);
    input_report_end(&report);
    new_file_free(file);
    if (result < 0 && result != BT_CLOSED) /* ignored: a reader that closed the pipe early */
        input_report_error(&report, &error);
    return report.status;
}
