/* Checks a trace against its graph, chunk by chunk: section 3 of the DCFG-trace specification. */
#include "tools/dcfg/graph/check_internal.h"

#include "formats/base/saturating.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EDGES_AT_ONCE 4096u
#define NOWHERE       UINT32_MAX /* no node: any edge may follow */

/* Attributes of an edge of the graph, together in memory. */
struct trace_edge {
    uint32_t source, target; /* nodes */
    uint32_t instructions;   /* of the source */
};

struct trace_check {
    struct check *check;
    const struct dcfg *graph;
    struct dcfg_trace_reader *reader;
    bool *processes_seen; /* by number in the graph */

    /* of the current process */
    struct check_process view;
    struct trace_edge *graph_edges;
    uint32_t *numbers; /* edge numbers by id; NULL if ids are sparse */
    uint32_t number_count;
    bool *threads_seen;
    bool *starts;      /* by block: target of an ENTRY edge */
    uint64_t *taken;   /* by edge: how often the current thread took it so far */
    uint32_t *touched; /* edges that the current thread took */
    uint32_t touched_count;

    /* of the current thread */
    uint32_t thread;
    uint32_t at;           /* target of its last edge, or NOWHERE */
    bool whole;            /* complete so far: begins at START, nothing missing */
    bool beginning;        /* the next edge is the first one of the thread */
    uint64_t edges;        /* number of edges so far */
    uint64_t allowed;      /* number of edges according to the graph */
    uint64_t instructions; /* instructions before the next chunk, if nothing is missing */
};

static void fail_here(struct trace_check *trace, enum check_rule rule, unsigned up,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Reports a failure at the reader's position, or a number of levels above it. */
static void fail_here(struct trace_check *trace, enum check_rule rule, unsigned up,
                      const char *format, ...)
{
    char path[DCFG_PATH_BYTES];
    char message[sizeof((struct check_failure *)0)->message];
    va_list arguments;
    if (trace->check->kept >= trace->check->kept_max) {
        trace->check->total++;
        return;
    }
    dcfg_trace_reader_path(trace->reader, path, sizeof path);
    for (; up > 0 && strrchr(path, '['); up--)
        *strrchr(path, '[') = '\0';
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const struct check_location location = {.kind = CHECK_AT_PATH, .text = path};
    check_fail(trace->check, rule, &location, "%s", message);
}

/* --- the transition table -------------------------------------------------------------------- */

/* Whether `next` may follow the edge with id `before`, which is in the graph. */
static const char *wrong_step(const struct check_process *view, uint32_t before, uint32_t next)
{
    uint32_t second = dcfg_find_edge(view->process, next);
    uint32_t first = dcfg_find_edge(view->process, before);
    if (second == DCFG_NONE)
        return "is not in the graph";
    return view->targets[first] == view->sources[second] ? NULL : "begins elsewhere";
}

static void check_row(struct trace_check *trace, const struct transition_row *row,
                      const uint32_t *next)
{
    uint32_t before = row->current;
    if (dcfg_find_edge(trace->view.process, before) == DCFG_NONE) {
        fail_here(trace, CHECK_TRACE_TABLE, 2,
                  "in the TRANSITION_TABLE, edge %" PRIu32 " is not in the graph", before);
        return;
    }
    for (uint32_t i = 0; i < row->count; i++) {
        const char *wrong = wrong_step(&trace->view, before, next[i]);
        if (wrong) {
            fail_here(trace, CHECK_TRACE_TABLE, 2,
                      "in the TRANSITION_TABLE, from edge %" PRIu32 ", edge %" PRIu32
                      " after edge %" PRIu32 " %s",
                      row->current, next[i], before, wrong);
            return;
        }
        before = next[i];
    }
}

static void check_table(struct trace_check *trace)
{
    const struct transition_table *table = dcfg_trace_reader_table(trace->reader);
    size_t count;
    const struct transition_row *rows = transition_table_rows(table, &count);
    const uint32_t *edges = transition_table_edges(table);
    for (size_t i = 0; i < count; i++)
        check_row(trace, &rows[i], edges + rows[i].next);
}

/* An edge's number in the graph, or DCFG_NONE. */
static inline uint32_t find_edge(const struct trace_check *trace, uint32_t id)
{
    if (trace->numbers)
        return id < trace->number_count ? trace->numbers[id] : DCFG_NONE;
    return dcfg_find_edge(trace->view.process, id);
}

/* --- chunks ---------------------------------------------------------------------------------- */

/* Position of a chunk in its thread. */
static void check_order(struct trace_check *trace, const struct dcfg_trace_chunk *chunk)
{
    const struct dcfg_process *process = trace->view.process;
    uint64_t end = saturating_add(chunk->preceding, chunk->instructions);
    if (chunk->preceding < trace->instructions)
        fail_here(trace, CHECK_TRACE_ORDER, 0,
                  "PRECEDING_INSTR_COUNT is %" PRIu64
                  ", and the chunk before this one ends at %" PRIu64,
                  chunk->preceding, trace->instructions);
    if (chunk->preceding != trace->instructions) {
        trace->at = NOWHERE;
        trace->whole = false;
    }
    if (trace->thread < process->threads_counted &&
        end > process->thread_instructions[trace->thread])
        fail_here(trace, CHECK_TRACE_ORDER, 0,
                  "the chunk ends at %" PRIu64 " instructions, and thread %" PRIu32 " has %" PRIu64,
                  end, trace->thread, process->thread_instructions[trace->thread]);
    trace->instructions = end;
}

/* Checks the first edge of a thread that has no preceding instructions. */
static void check_beginning(struct trace_check *trace, uint32_t edge)
{
    if (edge == DCFG_NONE)
        return; /* walk reports it */
    uint32_t source = trace->view.sources[edge];
    trace->whole &= source == check_start(&trace->view);
    if (source != check_start(&trace->view) &&
        !(source < trace->view.blocks && trace->starts[source]))
        fail_here(trace, CHECK_TRACE_ORDER, 0,
                  "nothing precedes this chunk, and no thread begins at block %" PRIu32
                  ", where edge %" PRIu32 " comes from",
                  check_node_id(&trace->view, source), trace->view.process->edges.ids[edge]);
}

static bool unknown_edge(struct trace_check *trace, uint32_t id)
{
    fail_here(trace, CHECK_TRACE_EDGES, 0,
              "edge %" PRIu32 ", number %" PRIu64 " of thread %" PRIu32 ", is not in the graph", id,
              trace->edges, trace->thread);
    return false;
}

static bool broken_way(struct trace_check *trace, uint32_t edge)
{
    fail_here(trace, CHECK_TRACE_EDGES, 0,
              "edge %" PRIu32 ", number %" PRIu64 " of thread %" PRIu32 ", comes from node %" PRIu32
              ", and the one before it leads to %" PRIu32,
              trace->view.process->edges.ids[edge], trace->edges, trace->thread,
              check_node_id(&trace->view, trace->view.sources[edge]),
              check_node_id(&trace->view, trace->at));
    return false;
}

/* Follows edges through the graph. Returns false after reporting edges that form no path. */
static bool walk(struct trace_check *trace, const uint32_t *ids, long count, uint64_t *executed)
{
    const struct trace_edge *edges = trace->graph_edges;
    uint64_t *taken = trace->taken;
    uint64_t instructions = 0;
    uint32_t at = trace->at;
    uint32_t e = DCFG_NONE;
    long i = 0;
    for (; i < count; i++) {
        e = find_edge(trace, ids[i]);
        if (e == DCFG_NONE || (edges[e].source != at && at != NOWHERE))
            break;
        if (taken[e]++ == 0)
            trace->touched[trace->touched_count++] = e;
        at = edges[e].target;
        instructions += edges[e].instructions;
    }
    trace->at = at;
    trace->edges += (uint64_t)i;
    *executed += instructions;
    return i == count || (e == DCFG_NONE ? unknown_edge(trace, ids[i]) : broken_way(trace, e));
}

/* Whether to read more edges of the thread. *result: 0 or BT_USAGE. */
static bool wanted(struct trace_check *trace, int *result, struct bt_error *error)
{
    struct check *check = trace->check;
    if (trace->edges > trace->allowed) {
        fail_here(trace, CHECK_TRACE_COUNTS, 0,
                  "thread %" PRIu32 " takes more edges here than in the graph, which has %" PRIu64,
                  trace->thread, trace->allowed);
        return false;
    }
    if (check->summary.trace_edges > check->settings.trace_edges_max)
        *result = bt_fail(error, BT_USAGE,
                          "the trace has more than %" PRIu64
                          " edges, and no more are expanded: see --trace-edges",
                          check->settings.trace_edges_max);
    return *result == 0;
}

/* Returns 0 or a negative code; check_trace reports the reader's errors. */
static int check_chunk(struct trace_check *trace, const struct dcfg_trace_chunk *chunk,
                       struct bt_error *error)
{
    uint32_t ids[EDGES_AT_ONCE];
    uint64_t executed = 0;
    long count;
    bool good = trace->edges <= trace->allowed;
    int result = 0;
    check_order(trace, chunk);
    trace->beginning = trace->edges == 0 && chunk->preceding == 0;
    while (good && (count = dcfg_trace_reader_edges(trace->reader, ids, EDGES_AT_ONCE)) != 0) {
        if (count < 0)
            return (int)count;
        trace->check->summary.trace_edges += (uint64_t)count;
        if (trace->beginning)
            check_beginning(trace, find_edge(trace, ids[0]));
        trace->beginning = false;
        good = walk(trace, ids, count, &executed) && wanted(trace, &result, error);
    }
    if (!good) {
        trace->whole = false;
        trace->at = NOWHERE;
        return result;
    }
    if (executed != chunk->instructions)
        fail_here(trace, CHECK_TRACE_INSTRUCTIONS, 0,
                  "INSTR_COUNT is %" PRIu64 ", and the edges' source nodes have %" PRIu64
                  " instructions",
                  chunk->instructions, executed);
    if (dcfg_trace_reader_unused(trace->reader) > 0)
        fail_here(trace, CHECK_TRACE_SEQUENCE, 0,
                  "%" PRIu64 " characters of the sequence follow its last edge",
                  dcfg_trace_reader_unused(trace->reader));
    return 0;
}

/* --- threads --------------------------------------------------------------------------------- */

static uint64_t graph_edges(const struct check_counts *counts, uint32_t thread)
{
    uint64_t total = 0;
    for (uint64_t i = counts->first[thread]; i < counts->first[thread + 1]; i++)
        total = saturating_add(total, counts->counts[i]);
    return total;
}

/* Compares the counts of the thread with the graph, and resets them. */
static void compare_counts(struct trace_check *trace)
{
    const struct check_counts *counts = &trace->view.counts;
    const uint32_t *ids = trace->view.process->edges.ids;
    trace->whole &= trace->at == check_end(&trace->view);
    for (uint64_t i = counts->first[trace->thread]; i < counts->first[trace->thread + 1]; i++) {
        uint32_t e = counts->edges[i];
        if (trace->taken[e] > counts->counts[i] ||
            (trace->whole && trace->taken[e] < counts->counts[i]))
            fail_here(trace, CHECK_TRACE_COUNTS, 0,
                      "thread %" PRIu32 " takes edge %" PRIu32 " %" PRIu64
                      " times here and %" PRIu64 " times in the graph",
                      trace->thread, ids[e], trace->taken[e], counts->counts[i]);
        trace->taken[e] = 0;
    }
    /* the remaining edges have no count of this thread in the graph */
    for (uint32_t i = 0; i < trace->touched_count; i++) {
        uint32_t e = trace->touched[i];
        if (trace->taken[e] > 0)
            fail_here(trace, CHECK_TRACE_COUNTS, 0,
                      "thread %" PRIu32 " takes edge %" PRIu32 " %" PRIu64
                      " times here and never in the graph",
                      trace->thread, ids[e], trace->taken[e]);
        trace->taken[e] = 0;
    }
    trace->touched_count = 0;
}

/* A complete trace has all instructions of its thread. */
static void compare_instructions(struct trace_check *trace)
{
    const struct dcfg_process *process = trace->view.process;
    if (trace->whole && trace->thread < process->threads_counted &&
        trace->instructions < process->thread_instructions[trace->thread])
        fail_here(trace, CHECK_TRACE_INSTRUCTIONS, 0,
                  "the trace of thread %" PRIu32 " is complete and has %" PRIu64
                  " instructions, and the graph has %" PRIu64,
                  trace->thread, trace->instructions, process->thread_instructions[trace->thread]);
}

/* 0 or a negative code. */
static int check_thread(struct trace_check *trace, uint32_t thread, struct bt_error *error)
{
    struct dcfg_trace_chunk chunk;
    int result;
    if (thread >= trace->view.process->threads) {
        fail_here(trace, CHECK_TRACE_THREAD, 2, "the graph has no thread %" PRIu32, thread);
        return 0;
    }
    if (trace->threads_seen[thread]) {
        fail_here(trace, CHECK_TRACE_THREAD, 2, "thread %" PRIu32 " occurs twice", thread);
        return 0;
    }
    trace->threads_seen[thread] = true;
    trace->check->summary.trace_threads++;
    trace->thread = thread;
    trace->at = NOWHERE;
    trace->whole = true;
    trace->edges = 0;
    trace->instructions = 0;
    trace->allowed = graph_edges(&trace->view.counts, thread);
    while ((result = dcfg_trace_reader_chunk(trace->reader, &chunk)) > 0) {
        trace->check->summary.trace_chunks++;
        result = check_chunk(trace, &chunk, error);
        if (result < 0)
            return result;
    }
    if (result == 0) {
        uint64_t before = trace->check->total;
        compare_counts(trace);
        if (trace->check->total == before)
            compare_instructions(trace);
    }
    return result;
}

/* --- processes ------------------------------------------------------------------------------- */

/* Indexes the edges by id, if that takes little memory. 0 or BT_MEMORY. */
static int number_edges(struct trace_check *trace, const struct dcfg_edges *edges)
{
    uint32_t largest = 0;
    for (uint32_t e = 0; e < edges->count; e++)
        largest = edges->ids[e] > largest ? edges->ids[e] : largest;
    if (largest / 4 > edges->count)
        return 0;
    trace->number_count = largest + 1;
    trace->numbers = malloc((size_t)trace->number_count * sizeof *trace->numbers);
    if (!trace->numbers)
        return BT_MEMORY;
    memset(trace->numbers, 0xff, (size_t)trace->number_count * sizeof *trace->numbers);
    for (uint32_t e = 0; e < edges->count; e++)
        trace->numbers[edges->ids[e]] = e;
    return 0;
}

static void fill_edges(struct trace_check *trace)
{
    const struct check_process *view = &trace->view;
    for (uint32_t e = 0; e < view->process->edges.count; e++) {
        trace->graph_edges[e] =
            (struct trace_edge){.source = view->sources[e],
                                .target = view->targets[e],
                                .instructions = check_instructions_of(view, view->sources[e])};
        if (view->sources[e] == check_start(view) && view->targets[e] < view->blocks)
            trace->starts[view->targets[e]] = true;
    }
}

static int process_make(struct trace_check *trace, const struct dcfg_process *process,
                        struct bt_error *error)
{
    size_t edges = (size_t)process->edges.count + 1;
    int result = check_process_make(&trace->view, process, &trace->check->settings, error);
    if (result < 0)
        return result;
    trace->taken = calloc(edges, sizeof *trace->taken);
    trace->touched = malloc(edges * sizeof *trace->touched);
    trace->graph_edges = malloc(edges * sizeof *trace->graph_edges);
    trace->threads_seen = calloc((size_t)process->threads + 1, sizeof(bool));
    trace->starts = calloc((size_t)process->block_count + 1, sizeof(bool));
    if (!trace->taken || !trace->touched || !trace->graph_edges || !trace->threads_seen ||
        !trace->starts || number_edges(trace, &process->edges) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for %" PRIu32 " edges", process->edges.count);
    fill_edges(trace);
    return 0;
}

static void process_clear(struct trace_check *trace)
{
    check_process_clear(&trace->view);
    free(trace->graph_edges);
    free(trace->numbers);
    trace->graph_edges = NULL;
    trace->numbers = NULL;
    free(trace->taken);
    free(trace->touched);
    free(trace->threads_seen);
    free(trace->starts);
    trace->taken = NULL;
    trace->touched = NULL;
    trace->touched_count = 0;
    trace->threads_seen = trace->starts = NULL;
}

/* The graph's process with that id; a missing or repeated process is reported. */
static const struct dcfg_process *find_process(struct trace_check *trace, uint64_t id)
{
    for (uint32_t i = 0; i < trace->graph->process_count; i++) {
        if (trace->graph->processes[i]->id != id)
            continue;
        if (!trace->processes_seen[i]) {
            trace->processes_seen[i] = true;
            return trace->graph->processes[i];
        }
        fail_here(trace, CHECK_TRACE_PROCESS, 2, "the process %" PRIu64 " occurs twice", id);
        return NULL;
    }
    fail_here(trace, CHECK_TRACE_PROCESS, 2, "the graph has no process %" PRIu64, id);
    return NULL;
}

static int check_process(struct trace_check *trace, uint64_t id, struct bt_error *error)
{
    const struct dcfg_process *process = find_process(trace, id);
    uint32_t thread;
    int result;
    if (!process)
        return 0;
    result = process_make(trace, process, error);
    if (result == 0)
        check_table(trace);
    while (result == 0 && (result = dcfg_trace_reader_thread(trace->reader, &thread)) > 0)
        result = check_thread(trace, thread, error);
    process_clear(trace);
    return result;
}

int check_trace(struct check *check, const struct dcfg *graph, struct dcfg_trace_reader *reader,
                const struct bt_error *read_error, struct bt_error *error)
{
    struct trace_check trace = {.check = check, .graph = graph, .reader = reader};
    uint64_t id;
    int result = 0;
    check->kept_max = check->kept + check->settings.failures_max;
    trace.processes_seen = calloc((size_t)graph->process_count + 1, sizeof(bool));
    if (!trace.processes_seen)
        return bt_fail(error, BT_MEMORY, "no memory for %" PRIu32 " processes",
                       graph->process_count);
    error->code = 0;
    while (result == 0 && (result = dcfg_trace_reader_process(reader, &id)) > 0)
        result = check_process(&trace, id, error);
    free(trace.processes_seen);
    if (result == BT_DATA) {
        check_add(check, CHECK_TRACE_FORMAT, read_error->message);
        return 0;
    }
    if (result < 0 && error->code == 0)
        *error = *read_error;
    return result;
}
