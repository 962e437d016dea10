#include "tools/common/commands.h"

#include "formats/base/printable.h"
#include "formats/dependences/dependences_read.h"
#include "tools/common/json_report.h"
#include "tools/common/progress.h"

#include <inttypes.h>
#include <string.h>

#define FAILURES_USUAL 100u
#define FAILURES_MOST  1000000u

struct check_settings {
    uint64_t max;
    bool rules, json;
};

static const struct option_row check_options[] = {
    {OPTION_COUNT, 0, "max", "N", "report at most N failures (default: 100)",
     offsetof(struct check_settings, max), NULL},
    {OPTION_FLAG, 0, "rules", NULL, "list the rules", offsetof(struct check_settings, rules), NULL},
    OPTION_JSON_ROW(struct check_settings, json),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* A file that is checked. */
struct checked_file {
    const char *path;
    struct dependences_failures *failures;
    struct dependences_summary summary;
    struct progress progress;
};

static void show(void *argument, uint64_t offset, uint64_t size)
{
    struct checked_file *file = argument;
    progress_show(&file->progress, file->path, offset, size);
}

static const char *format_name(enum dependences_file file)
{
    static const char *const names[] = {[DEPENDENCES_FILE_CSV] = "CSV",
                                        [DEPENDENCES_FILE_JSON] = "JSON",
                                        [DEPENDENCES_FILE_TRACE] = "trace"};
    return names[file];
}

static void print_failure(const char *path, const struct dependences_failure *failure)
{
    printable_put(path, stdout);
    printf(": ");
    if (*failure->where) {
        printable_put(failure->where, stdout);
        printf(": ");
    }
    printable_put(failure->message, stdout);
    printf(" (%s)\n", dependences_rule_name(failure->rule));
}

static void print_summary(const struct checked_file *file)
{
    const struct dependences_summary *summary = &file->summary;
    printable_put(file->path, stdout);
    if (summary->file == DEPENDENCES_FILE_TRACE)
        printf(": good: trace, %" PRIu64 " dependences, %" PRIu64 " functions entered, %" PRIu64
               " left\n",
               summary->found, summary->entered, summary->left);
    else
        printf(": good: %s, %" PRIu64 " places, %" PRIu64 " loops, %" PRIu64 " rows\n",
               format_name(summary->file), summary->places, summary->loops, summary->rows);
}

static void print_text(const struct checked_file *file)
{
    size_t kept;
    const struct dependences_failure *failures = dependences_failures_kept(file->failures, &kept);
    const uint64_t total = dependences_failures_total(file->failures);
    for (size_t i = 0; i < kept; i++)
        print_failure(file->path, &failures[i]);
    if (total > kept)
        printf("and %" PRIu64 " more\n", total - kept);
    if (total == 0)
        print_summary(file);
}

static int print_json(const struct checked_file *file)
{
    size_t kept;
    const struct dependences_failure *failures = dependences_failures_kept(file->failures, &kept);
    const uint64_t total = dependences_failures_total(file->failures);
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return BT_MEMORY;
    json_bool(json, "good", total == 0);
    json_text(json, "format", format_name(file->summary.file));
    json_count(json, "failure_count", total);
    json_array(json, "failures");
    for (size_t i = 0; i < kept; i++) {
        json_put_object(json);
        json_text(json, "rule", dependences_rule_name(failures[i].rule));
        json_text(json, "where", failures[i].where);
        json_text(json, "message", failures[i].message);
        json_put_object_end(json);
    }
    json_put_array_end(json);
    json_report_end(json);
    return 0;
}

static int print_rules(void)
{
    for (int i = 0; i < DEPENDENCES_RULES; i++)
        printf("%-10s %s\n", dependences_rule_name((enum dependences_rule)i),
               dependences_rule_text((enum dependences_rule)i));
    return STATUS_GOOD;
}

static int check_file(struct checked_file *file, const struct check_settings *settings,
                      struct bt_error *error)
{
    file->failures = dependences_failures_new((size_t)settings->max, error);
    struct text_reader *reader = file->failures ? text_reader_open(file->path, error) : NULL;
    progress_begin(&file->progress, true);
    if (reader)
        text_reader_set_progress(reader, show, file);
    int result =
        reader ? dependences_check(reader, file->failures, &file->summary, error) : error->code;
    progress_clear(&file->progress);
    text_reader_close(reader);
    if (result == 0 && !settings->json)
        print_text(file);
    else if (result == 0 && print_json(file) < 0)
        result = bt_fail(error, BT_MEMORY, "no memory for the report");
    return result;
}

static int check_main(struct invocation *call)
{
    struct check_settings settings = {.max = FAILURES_USUAL};
    struct checked_file file = {.path = NULL};
    struct bt_error error;
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    if (settings.rules && call->count == 0)
        return print_rules();
    if (call->count != 1)
        return command_usage(call, "one FILE is needed");
    if (settings.max > FAILURES_MOST)
        return command_usage(call, "--max is at most %u", FAILURES_MOST);
    file.path = call->arguments[0];
    const int result = check_file(&file, &settings, &error);
    const bool good = result == 0 && dependences_failures_total(file.failures) == 0;
    dependences_failures_free(file.failures);
    if (result < 0)
        return command_failure(&error);
    return good ? STATUS_GOOD : STATUS_DATA;
}

const struct command depend_check_command = {
    .name = "check",
    .operands = "FILE",
    .summary = "check a file of dependences",
    .details = "Checks a report of bustap depend in CSV or JSON, or a trace, against the rules of "
               "doc/dependences-file.md. FILE may be compressed; - is standard input.",
    .options = check_options,
    .run = check_main,
    .group = NULL};
