#include "tools/dcfg/graph/check_internal.h"

#include "formats/base/grow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct check_settings check_settings_default(void)
{
    return (struct check_settings){.failures_max = 100,
                                   .memory_max = (uint64_t)4 << 30,
                                   .trace_edges_max = UINT64_C(100000000000)};
}

struct check *check_new(const struct check_settings *settings, struct bt_error *error)
{
    struct check *check = calloc(1, sizeof *check);
    if (!check) {
        bt_fail(error, BT_MEMORY, "no memory for checking a graph");
        return NULL;
    }
    check->settings = settings ? *settings : check_settings_default();
    check->kept_max = check->settings.failures_max;
    return check;
}

void check_free(struct check *check)
{
    if (!check)
        return;
    free(check->failures);
    free(check);
}

/* --- failures -------------------------------------------------------------------------------- */

static uint32_t process_number(const struct dcfg_process *process)
{
    uint32_t number = 0;
    while (process->graph->processes[number] != process)
        number++;
    return number;
}

static void put_location(char path[DCFG_PATH_BYTES], const struct check_location *location)
{
    const struct dcfg_process *process = location->process;
    struct dcfg_path found = {""};
    switch (location->kind) {
    case CHECK_AT_ROW:
        found = dcfg_path_in_process(process, location->text, location->number);
        break;
    case CHECK_AT_SYMBOL:
        found = dcfg_path_symbol(process, location->number);
        break;
    case CHECK_AT_LINE:
        found = dcfg_path_line(process, location->number);
        break;
    case CHECK_AT_BLOCK:
        found = dcfg_path_block(process, location->number);
        break;
    case CHECK_AT_ROUTINE:
        found = dcfg_path_routine(process, location->number);
        break;
    case CHECK_AT_NODE:
        found = dcfg_path_node(process, location->number, location->part);
        break;
    case CHECK_AT_LOOP:
        found = dcfg_path_loop(process, location->number, location->part);
        break;
    case CHECK_AT_TOP:
        snprintf(path, DCFG_PATH_BYTES, "%s[%u]", location->text, location->number + 1);
        return;
    case CHECK_AT_THREAD:
        snprintf(path, DCFG_PATH_BYTES, "PROCESSES[%u][%u].INSTR_COUNT_PER_THREAD[%u]",
                 process_number(process) + 1, process->graph->columns.process_data,
                 location->number);
        return;
    case CHECK_AT_PROCESS:
        snprintf(path, DCFG_PATH_BYTES, "PROCESSES[%u][%u]%s%s", process_number(process) + 1,
                 process->graph->columns.process_data, *location->text ? "." : "", location->text);
        return;
    default:
        snprintf(path, DCFG_PATH_BYTES, "%s", location->text);
        return;
    }
    snprintf(path, DCFG_PATH_BYTES, "%s", found.text);
}

static void fail(struct check *check, enum check_rule rule, const struct check_location *location,
                 const char *format, va_list arguments) __attribute__((format(printf, 4, 0)));

static void fail(struct check *check, enum check_rule rule, const struct check_location *location,
                 const char *format, va_list arguments)
{
    check->total++;
    if (check->kept >= check->kept_max)
        return;
    struct check_failure *rows =
        grow_array(check->failures, &check->capacity, check->kept + 1, sizeof *rows);
    if (!rows)
        return; /* counted only */
    check->failures = rows;
    struct check_failure *row = &rows[check->kept++];
    row->rule = rule;
    put_location(row->path, location);
    vsnprintf(row->message, sizeof row->message, format, arguments);
}

void check_fail(struct check *check, enum check_rule rule, const struct check_location *location,
                const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(check, rule, location, format, arguments);
    va_end(arguments);
}

void check_fail_edge(struct check *check, enum check_rule rule, const struct dcfg_process *process,
                     uint32_t edge, const char *format, ...)
{
    const struct check_location location = {
        .kind = CHECK_AT_ROW, .process = process, .text = "EDGES", .number = edge};
    va_list arguments;
    va_start(arguments, format);
    fail(check, rule, &location, format, arguments);
    va_end(arguments);
}

void check_add(struct check *check, enum check_rule rule, const char *message)
{
    const struct check_location location = {.kind = CHECK_AT_PATH, .text = ""};
    check_fail(check, rule, &location, "%s", message);
}

uint64_t check_total(const struct check *check)
{
    return check->total;
}

const struct check_failure *check_failures(const struct check *check, size_t *kept)
{
    *kept = check->kept;
    return check->failures;
}

const struct check_summary *check_summary(const struct check *check)
{
    return &check->summary;
}

/* --- a graph --------------------------------------------------------------------------------- */

static int check_one(struct check *check, const struct dcfg_process *process,
                     struct bt_error *error)
{
    struct check_process view;
    int result = check_process_make(&view, process, &check->settings, error);
    if (result == 0)
        result = check_tables(check, &view, error);
    if (result == 0)
        result = check_layout(check, &view, error);
    if (result == 0)
        result = check_edges(check, &view, error);
    if (result == 0)
        check_endings(check, &view);
    if (result == 0 && process->edges.count > 0)
        result = check_flow(check, &view, error);
    if (result == 0)
        result = check_routines(check, &view, error);
    check_process_clear(&view);
    check->summary.processes++;
    check->summary.threads += process->threads;
    check->summary.images += process->image_count;
    check->summary.symbols += process->symbol_count;
    check->summary.lines += process->line_count;
    check->summary.blocks += process->block_count;
    check->summary.edges += process->edges.count;
    check->summary.routines += process->routine_count;
    check->summary.loops += process->loop_count;
    return result;
}

int check_graph(struct check *check, const struct dcfg *graph, struct bt_error *error)
{
    int result = 0;
    check->summary.chunks = graph->bus && graph->bus->chunks;
    check_top(check, graph);
    for (uint32_t i = 0; i < graph->process_count && result == 0; i++)
        result = check_one(check, graph->processes[i], error);
    return result == 0 ? check_bus(check, graph, error) : result;
}
