#include "tools/common/commands.h"

#include "formats/base/printable.h"
#include "tools/common/json_report.h"
#include "tools/dcfg/graph/check.h"
#include "tools/dcfg/graph_file.h"
#include "tools/dcfg/trace_file.h"
#include "tools/dcfg/units.h"

#include <inttypes.h>
#include <string.h>

struct check_options {
    const char *trace;
    uint64_t max, memory, trace_edges;
    bool rules, json;
};

static const struct option_row check_rows[] = {
    {OPTION_TEXT, 0, "trace", "FILE", "also check this trace of the graph",
     offsetof(struct check_options, trace), NULL},
    {OPTION_COUNT, 0, "max", "N", "report at most N failures of each file (default: 100)",
     offsetof(struct check_options, max), NULL},
    {OPTION_BYTES, 0, "max-memory", "SIZE",
     "memory limit of the graph (default: 4G); a trace may use a quarter of it",
     offsetof(struct check_options, memory), NULL},
    {OPTION_COUNT, 0, "trace-edges", "N",
     "largest number of edges of a trace to expand (default: 10^11)",
     offsetof(struct check_options, trace_edges), NULL},
    {OPTION_FLAG, 0, "rules", NULL, "list the rules and their places in the specifications",
     offsetof(struct check_options, rules), NULL},
    OPTION_JSON_ROW(struct check_options, json),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

struct checking {
    const char *path;
    const struct check_options *options;
    struct check *check;
};

/* --- printing -------------------------------------------------------------------------------- */

static const char *file_of(const struct checking *checking, const struct check_failure *failure)
{
    return failure->rule >= CHECK_TRACE_FORMAT ? checking->options->trace : checking->path;
}

static void print_failure(const struct checking *checking, const struct check_failure *failure)
{
    const struct check_rule_row *rule = check_rule_row(failure->rule);
    if (*failure->path) { /* an empty path: the message names the location */
        printable_put(file_of(checking, failure), stdout);
        printf(": ");
        printable_put(failure->path, stdout);
        printf(": ");
    }
    printable_put(failure->message, stdout);
    printf(" (%s, section %s)\n", rule->name, rule->sections);
}

static void print_count(uint64_t count, const char *one, const char *many)
{
    printf("%" PRIu64 " %s", count, count == 1 ? one : many);
}

static void print_summary(const struct checking *checking)
{
    const struct check_summary *all = check_summary(checking->check);
    printable_put(checking->path, stdout);
    printf(": good: ");
    if (all->processes != 1) {
        print_count(all->processes, "process", "processes");
        printf(", ");
    }
    print_count(all->threads, "thread", "threads");
    printf(", ");
    print_count(all->images, "image", "images");
    printf(", ");
    print_count(all->blocks, "block", "blocks");
    printf(", ");
    print_count(all->edges, "edge", "edges");
    printf(", ");
    print_count(all->routines, "routine", "routines");
    printf(", ");
    print_count(all->loops, "loop", "loops");
    printf(", ");
    print_count(all->instructions, unit_executed(all->chunks, 1), unit_executed(all->chunks, 0));
    if (checking->options->trace) {
        printf("; trace of ");
        print_count(all->trace_threads, "thread", "threads");
        printf(", ");
        print_count(all->trace_chunks, "chunk", "chunks");
        printf(", ");
        print_count(all->trace_edges, "edge", "edges");
    }
    putchar('\n');
}

static void report(const struct checking *checking)
{
    size_t kept;
    const struct check_failure *failures = check_failures(checking->check, &kept);
    uint64_t total = check_total(checking->check);
    for (size_t i = 0; i < kept; i++)
        print_failure(checking, &failures[i]);
    if (total > kept)
        printf("and %" PRIu64 " more\n", total - kept);
    if (total == 0)
        print_summary(checking);
}

static void json_failures(struct json_put *json, const struct checking *checking)
{
    size_t kept;
    const struct check_failure *failures = check_failures(checking->check, &kept);
    json_array(json, "failures");
    for (size_t i = 0; i < kept; i++) {
        const struct check_rule_row *rule = check_rule_row(failures[i].rule);
        json_put_object(json);
        json_text(json, "rule", rule->name);
        json_text(json, "sections", rule->sections);
        json_text(json, "file", file_of(checking, &failures[i]));
        json_text(json, "path", failures[i].path);
        json_text(json, "message", failures[i].message);
        json_put_object_end(json);
    }
    json_put_array_end(json);
}

static int report_json(const struct checking *checking, struct bt_error *error)
{
    const struct check_summary *all = check_summary(checking->check);
    const struct {
        const char *key;
        uint64_t count;
    } counts[] = {{"processes", all->processes},
                  {"threads", all->threads},
                  {"images", all->images},
                  {"symbols", all->symbols},
                  {"source_lines", all->lines},
                  {"blocks", all->blocks},
                  {"edges", all->edges},
                  {"routines", all->routines},
                  {"loops", all->loops},
                  {unit_name(all->chunks, 0), all->instructions},
                  {"trace_threads", all->trace_threads},
                  {"trace_chunks", all->trace_chunks},
                  {"trace_edges", all->trace_edges}};
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return bt_fail(error, BT_MEMORY, "no memory for the report");
    json_bool(json, "good", check_total(checking->check) == 0);
    json_count(json, "failure_count", check_total(checking->check));
    json_failures(json, checking);
    json_object(json, "checked");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        json_count(json, counts[i].key, counts[i].count);
    json_put_object_end(json);
    json_report_end(json);
    return 0;
}

static int print_rules(void)
{
    for (int i = 0; i < CHECK_RULES; i++) {
        const struct check_rule_row *rule = check_rule_row((enum check_rule)i);
        printf("%-18s %-12s %s\n", rule->name, rule->sections, rule->text);
    }
    return STATUS_GOOD;
}

/* --- checking -------------------------------------------------------------------------------- */

static int check_trace_file(const struct checking *checking, const struct dcfg *graph,
                            struct bt_error *error)
{
    struct dcfg_trace_file file;
    int result = dcfg_trace_file_open(&file, checking->options->trace,
                                      checking->options->memory / 4, true, true, error);
    if (result == 0)
        result = check_trace(checking->check, graph, file.reader, &file.error, error);
    dcfg_trace_file_close(&file);
    return result;
}

/* 0 even with failures. */
static int check_files(const struct checking *checking, struct bt_error *error)
{
    struct dcfg_reader_settings reading = dcfg_reader_settings_default();
    reading.json.strict = true;
    reading.graph.memory_max = checking->options->memory;
    struct dcfg *graph = graph_file_read_with(checking->path, &reading, error);
    if (!graph && error->code == BT_DATA) {
        check_add(checking->check, CHECK_FORMAT, error->message);
        return 0;
    }
    if (!graph)
        return error->code;
    int result = check_graph(checking->check, graph, error);
    if (result == 0 && checking->options->trace)
        result = check_trace_file(checking, graph, error);
    dcfg_free(graph);
    return result;
}

static int run(struct checking *checking, struct bt_error *error)
{
    const struct check_options *options = checking->options;
    const struct check_settings settings = {.failures_max = options->max,
                                            .memory_max = options->memory,
                                            .trace_edges_max = options->trace_edges};
    checking->check = check_new(&settings, error);
    if (!checking->check)
        return error->code;
    int result = check_files(checking, error);
    if (result == 0 && options->json)
        result = report_json(checking, error);
    else if (result == 0)
        report(checking);
    bool good = check_total(checking->check) == 0;
    check_free(checking->check);
    if (result < 0)
        return command_failure(error);
    return good ? STATUS_GOOD : STATUS_DATA;
}

static int check_main(struct invocation *call)
{
    const struct check_settings standard = check_settings_default();
    struct check_options options = {.max = standard.failures_max,
                                    .memory = standard.memory_max,
                                    .trace_edges = standard.trace_edges_max};
    struct bt_error error = {0};
    int status;
    if (!command_options(call, &options, &status))
        return status;
    if (options.rules && call->count == 0)
        return print_rules();
    if (call->count != 1)
        return command_usage(call, "one graph is needed");
    if (options.trace && strcmp(options.trace, "-") == 0 && strcmp(call->arguments[0], "-") == 0)
        return command_usage(call, "the graph and the trace cannot both be standard input");
    struct checking checking = {.path = call->arguments[0], .options = &options};
    return run(&checking, &error);
}

const struct command dcfg_check_command = {
    .name = "check",
    .operands = "FILE",
    .summary = "check a graph and its trace against the rules of the formats",
    .details = "Checks every rule of DCFG 1.00: tables and ids, counts of instructions, that "
               "each thread leaves each node as often as it enters it, and that routines, "
               "dominators and loops equal those that the check computes. With --trace, also "
               "checks every rule of DCFG-trace 1.00: that the edges of each thread are one "
               "path through the graph and have the counts of the graph. Each failure is "
               "reported with its place in the file. The exit status is 1 if a check fails.",
    .options = check_rows,
    .run = check_main,
    .group = NULL};
