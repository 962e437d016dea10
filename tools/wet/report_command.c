#include "tools/common/commands.h"

#include "formats/base/printable.h"
#include "tools/common/progress.h"
#include "tools/wet/wet_report_write.h"

#include <inttypes.h>
#include <string.h>

#define WITHIN_USUAL 128u /* stores that a store queue of today holds */
#define MEMORY_USUAL (UINT64_C(256) << 20)
#define TOP_TEXT     20u
#define TOP_USUAL    (UINT64_MAX - 1) /* not given */

struct report_command_settings {
    struct wet_report_settings report;
    uint64_t top;
    bool csv, json;
};

#define OPTION(member) offsetof(struct report_command_settings, member)

static const struct option_row report_options[] = {
    {OPTION_POSITIVE, 0, "within", "N",
     "list loads that never depend on one of the last N stores (default: 128)",
     OPTION(report.within), NULL},
    {OPTION_COUNT, 0, "top", "N",
     "instructions in each list, 0: all (default: 20; in CSV and JSON all)", OPTION(top), NULL},
    {OPTION_BYTES, 0, "max-memory", "SIZE",
     "memory for stores and contexts of values (default: 256M); older ones are forgotten",
     OPTION(report.max_memory), NULL},
    OPTION_CSV_ROW(struct report_command_settings, csv),
    OPTION_JSON_ROW(struct report_command_settings, json),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

static const char *name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : PRINTABLE(path);
}

static void warn(const char *path, const char *problem)
{
    fprintf(stderr, "bustap: %.200s: %s; the report is about what is before\n", name_of(path),
            problem);
}

/* Replays the file. 0; 1: up to something that is damaged; or a negative code. */
static int replay(struct wet_report *report, const char *path, struct bt_error *error)
{
    const struct wet_file *file = &report->trace->file;
    const struct wet_place *last =
        file->place_count > 0 ? &file->places[file->place_count - 1] : NULL;
    struct progress progress;
    int result;
    progress_begin(&progress, true);
    do {
        progress_show(&progress, path, wet_report_instructions(report),
                      last ? last->first + last->instructions : 0);
        result = wet_report_next(report, error);
    } while (result > 0);
    progress_clear(&progress);
    if (result == BT_DATA) {
        warn(path, error->message);
        return 1;
    }
    return result;
}

static int report_file(const char *path, const struct report_command_settings *settings,
                       struct bt_error *error)
{
    struct wet_trace trace;
    struct wet_report report = {.trace = NULL};
    const enum wet_report_format format = settings->json  ? WET_REPORT_JSON
                                          : settings->csv ? WET_REPORT_CSV
                                                          : WET_REPORT_TEXT;
    bool is_damaged = false;
    int result = wet_trace_open(&trace, path, error);
    if (result == 0)
        result = wet_report_init(&report, &trace, &settings->report, error);
    if (result == 0) {
        result = replay(&report, path, error);
        is_damaged = result > 0;
    }
    if (result >= 0)
        result = wet_report_write(&report, format, settings->top, stdout, error);
    if (result == 0 && !is_damaged && (trace.file.is_cut || !trace.file.is_closed)) {
        warn(path, trace.file.is_cut ? trace.file.cut.message : "the file was not finished");
        is_damaged = true;
    }
    wet_report_clear(&report);
    wet_trace_close(&trace);
    return result < 0 ? result : is_damaged;
}

static int report_main(struct invocation *call)
{
    struct report_command_settings settings = {
        .report = {.within = WITHIN_USUAL, .max_memory = MEMORY_USUAL}, .top = TOP_USUAL};
    struct bt_error error;
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    if (call->count != 1)
        return command_usage(call, "one FILE is needed");
    if (settings.csv && settings.json)
        return command_usage(call, "--csv and --json exclude each other");
    if (settings.report.max_memory < WET_REPORT_BYTES_MIN)
        return command_usage(call, "--max-memory is at least 64K");
    if (settings.top == TOP_USUAL)
        settings.top = settings.csv || settings.json ? 0 : TOP_TEXT;
    if (settings.top == 0)
        settings.top = SIZE_MAX;
    const int result = report_file(call->arguments[0], &settings, &error);
    if (result < 0)
        return command_failure(&error);
    return result == 0 ? STATUS_GOOD : STATUS_DATA;
}

const struct command wet_report_command = {
    .name = "report",
    .operands = "FILE.wet",
    .summary = "memory dependences, value locality and parallelism of a trace",
    .details = "Reports how far loads are from the stores that they depend on, which loads never "
               "depend on a recent store, how many values predictors say right, and how long the "
               "critical path of the data flow is. doc/wet.md defines each count; - is standard "
               "input.",
    .options = report_options,
    .run = report_main,
    .group = NULL};
