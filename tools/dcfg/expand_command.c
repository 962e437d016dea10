#include "tools/common/commands.h"

#include "formats/base/saturating.h"
#include "tools/dcfg/edge_lines.h"
#include "tools/dcfg/trace_file.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define EDGES_AT_ONCE 4096u
#define LINES_MEMORY  ((size_t)64 << 20)
#define ANY_THREAD    UINT32_MAX

struct expand_options {
    const char *trace;
    const char *process;
    uint64_t from, count, memory;
    uint32_t thread;
    bool csv, json;
};

static const struct option_row expand_rows[] = {
    {OPTION_TEXT, 0, "trace", "FILE", "the trace of the graph (required)",
     offsetof(struct expand_options, trace), NULL},
    {OPTION_NUMBER, 0, "thread", "N", "print only this thread; 0 is the first",
     offsetof(struct expand_options, thread), NULL},
    {OPTION_TEXT, 0, "process", "ID", "process to use, if the graph has several",
     offsetof(struct expand_options, process), NULL},
    {OPTION_COUNT, 0, "skip", "N", "skip the first N edges of each thread's trace",
     offsetof(struct expand_options, from), NULL},
    {OPTION_COUNT, 'n', "count", "N", "print N edges of each thread, then stop",
     offsetof(struct expand_options, count), NULL},
    {OPTION_BYTES, 0, "max-memory", "SIZE",
     "memory limit of the transition table of the trace (default: 1G)",
     offsetof(struct expand_options, memory), NULL},
    OPTION_CSV_ROW(struct expand_options, csv),
    OPTION_JSON_LINES_ROW(struct expand_options, json),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

struct expansion {
    const struct expand_options *options;
    struct view view;
    struct dcfg_trace_file file;
    struct output *output;
    struct edge_lines *lines;
    enum view_form form;
    uint32_t thread; /* number of the current thread */
    uint64_t last;   /* last edge to print */
    uint64_t edges;  /* edges of the progress; 0: that of the file is shown */
};

/* --- reading --------------------------------------------------------------------------------- */

/* An error of the trace reader. */
static int reader_failed(const struct expansion *expansion, struct bt_error *error)
{
    *error = expansion->file.error;
    return error->code;
}

/* Prints those of count edges that are selected; the first one is number `index` of the thread. */
static int print_edges(struct expansion *expansion, uint64_t index, const uint32_t *ids,
                       size_t count, struct bt_error *error)
{
    const uint64_t from = expansion->options->from;
    const size_t skipped = index >= from          ? 0
                           : from - index < count ? (size_t)(from - index)
                                                  : count;
    const size_t end = expansion->last - index < count ? (size_t)(expansion->last - index) : count;
    if (skipped >= end)
        return 0;
    long printed = edge_lines_print(expansion->lines, expansion->thread, index + skipped,
                                    ids + skipped, end - skipped, expansion->output, error);
    if (printed < 0)
        return (int)printed;
    size_t next = skipped + (size_t)printed;
    if (next == end)
        return 0;
    return bt_fail(error, BT_DATA,
                   "%s: edge %" PRIu32 ", number %" PRIu64 " of thread %" PRIu32
                   ", is not in %s: do they belong together?",
                   text_reader_name(expansion->file.text), ids[next], index + next,
                   expansion->thread, expansion->view.path);
}

/* Prints the edges of a chunk; the first one is number `first` of the thread. */
static int expand_chunk(struct expansion *expansion, uint64_t first, struct bt_error *error)
{
    uint32_t ids[EDGES_AT_ONCE];
    uint64_t index = first;
    long count;
    while (index < expansion->last &&
           (count = dcfg_trace_reader_edges(expansion->file.reader, ids, EDGES_AT_ONCE)) != 0) {
        if (count < 0)
            return reader_failed(expansion, error);
        dcfg_trace_file_count(&expansion->file, (uint64_t)count, expansion->edges);
        int result = print_edges(expansion, index, ids, (size_t)count, error);
        if (result < 0)
            return result;
        index += (uint64_t)count;
    }
    return 0;
}

/* Skips unwanted chunks without decoding them. */
static int expand_thread(struct expansion *expansion, struct bt_error *error)
{
    struct dcfg_trace_chunk chunk;
    uint64_t index = 0;
    int result = 0;
    while (index < expansion->last &&
           (result = dcfg_trace_reader_chunk(expansion->file.reader, &chunk)) > 0) {
        uint64_t end = saturating_add(index, chunk.edges);
        if (end > expansion->options->from)
            result = expand_chunk(expansion, index, error);
        if (result < 0)
            return result;
        index = end;
    }
    return result < 0 ? reader_failed(expansion, error) : 0;
}

static int expand_process(struct expansion *expansion, struct bt_error *error)
{
    uint32_t wanted = expansion->options->thread;
    bool found = false;
    int result;
    while ((result = dcfg_trace_reader_thread(expansion->file.reader, &expansion->thread)) > 0) {
        if (wanted != ANY_THREAD && expansion->thread != wanted)
            continue;
        found = true;
        result = expand_thread(expansion, error);
        if (result < 0)
            return result;
        if (wanted != ANY_THREAD)
            return 0; /* the rest of the file is not needed */
    }
    if (result < 0)
        return reader_failed(expansion, error);
    if (!found && wanted != ANY_THREAD)
        return bt_fail(error, BT_USAGE, "%s: there is no thread %" PRIu32 " in process %" PRIu64,
                       text_reader_name(expansion->file.text), wanted, expansion->view.process->id);
    return 0;
}

/* Reads up to the graph's process in the trace. */
static int expand_trace(struct expansion *expansion, struct bt_error *error)
{
    uint64_t id;
    int result;
    while ((result = dcfg_trace_reader_process(expansion->file.reader, &id)) > 0)
        if (id == expansion->view.process->id)
            return expand_process(expansion, error);
    if (result < 0)
        return reader_failed(expansion, error);
    return bt_fail(error, BT_DATA,
                   "%s: there is no process %" PRIu64
                   ", which is the graph's: do they belong together?",
                   text_reader_name(expansion->file.text), expansion->view.process->id);
}

/* The number of edges to print, if that is all of a thread or of all threads; else 0. */
static uint64_t all_edges(const struct expansion *expansion)
{
    const struct expand_options *options = expansion->options;
    const struct dcfg_process *process = expansion->view.process;
    uint64_t edges = 0;
    if (options->from > 0 || options->count < UINT64_MAX)
        return 0;
    for (uint32_t edge = 0; edge < process->edges.count; edge++) {
        struct dcfg_counts counts = dcfg_edge_counts(process, edge);
        while (dcfg_counts_next(&counts))
            if (options->thread == ANY_THREAD || counts.thread == options->thread)
                edges = saturating_add(edges, counts.count);
    }
    return edges;
}

static int expand(struct expansion *expansion, const char *path, struct bt_error *error)
{
    const struct expand_options *options = expansion->options;
    int result = view_open(&expansion->view, path, options->process, error);
    if (result < 0)
        return result;
    expansion->edges = all_edges(expansion);
    expansion->output = output_new(STDOUT_FILENO, "standard output", error);
    if (!expansion->output)
        return error->code;
    expansion->lines = edge_lines_new(&expansion->view, expansion->form, LINES_MEMORY, error);
    if (!expansion->lines)
        return error->code;
    result = dcfg_trace_file_open(&expansion->file, options->trace, options->memory, false, false,
                                  error);
    if (result == 0)
        result = edge_lines_heading(expansion->lines, expansion->output, error);
    if (result == 0)
        result = expand_trace(expansion, error);
    struct bt_error ignored; /* errors after the last printed edge are ignored */
    int flushed = output_flush(expansion->output, result == 0 ? error : &ignored);
    return result == 0 ? flushed : result;
}

static int expand_main(struct invocation *call)
{
    struct expand_options options = {
        .count = UINT64_MAX, .memory = (uint64_t)1 << 30, .thread = ANY_THREAD};
    struct bt_error error = {0};
    int status;
    struct expansion expansion = {.options = &options};
    if (!command_options(call, &options, &status))
        return status;
    if (call->count != 1)
        return command_usage(call, "one graph is needed");
    if (!options.trace)
        return command_usage(call, "--trace FILE is missing");
    if (strcmp(options.trace, "-") == 0 && strcmp(call->arguments[0], "-") == 0)
        return command_usage(call, "the graph and the trace cannot both be standard input");
    if (view_choose_form(&expansion.form, options.csv, options.json, &error) < 0)
        return command_usage(call, "%s", error.message);
    expansion.last = saturating_add(options.from, options.count);
    int result = expand(&expansion, call->arguments[0], &error);
    dcfg_trace_file_close(&expansion.file);
    edge_lines_free(expansion.lines);
    output_free(expansion.output);
    view_close(&expansion.view);
    return result < 0 && result != BT_CLOSED ? command_failure(&error) : STATUS_GOOD;
}

const struct command dcfg_expand_command = {
    .name = "expand",
    .operands = "--trace TRACE FILE",
    .summary = "print the edges of a trace one by one",
    .details = "Prints the edges that threads took, in order: each edge with its nodes, its "
               "type, and the address and symbol of the block that it leads to. Chunks of the "
               "trace without selected edges are not expanded.",
    .options = expand_rows,
    .run = expand_main,
    .group = NULL};
