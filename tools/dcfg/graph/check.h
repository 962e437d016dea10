/*
 * Checks a graph and its trace against the rules of DCFG 1.00 and DCFG-trace 1.00, which
 * check_rules.c lists. A violation becomes a failure with its location in the file; the first
 * failures are kept, all are counted.
 *
 * Time is linear in the graph and in the edges of the trace, memory in the graph.
 */
#ifndef TOOLS_DCFG_GRAPH_CHECK_H
#define TOOLS_DCFG_GRAPH_CHECK_H

#include "formats/dcfg/dcfg.h"
#include "formats/dcfg/dcfg_trace_reader.h"

enum check_rule {
    CHECK_FORMAT,
    CHECK_VERSION,
    CHECK_EDGE_TYPE_NAMES,
    CHECK_SPECIAL_NAMES,
    CHECK_PROCESS_IDS,
    CHECK_COUNTS_TOLD,
    CHECK_COUNTS_SUM,
    CHECK_IMAGE_IDS,
    CHECK_IMAGE_RANGE,
    CHECK_SYMBOL_RANGE,
    CHECK_LINE_RANGE,
    CHECK_LINE_INSTRUCTIONS,
    CHECK_BLOCK_RANGE,
    CHECK_BLOCK_INSTRUCTIONS,
    CHECK_BLOCK_OVERLAP,
    CHECK_BLOCK_COUNT,
    CHECK_BLOCK_EXECUTED,
    CHECK_ROUTINE_NODES,
    CHECK_ROUTINE_IMAGE,
    CHECK_ROUTINE_ENTRY,
    CHECK_ROUTINE_REACHED,
    CHECK_ROUTINE_EXITS,
    CHECK_DOMINATORS,
    CHECK_LOOP_HEADS,
    CHECK_LOOP_BACK_EDGES,
    CHECK_LOOP_NODES,
    CHECK_LOOP_PARENTS,
    CHECK_EDGE_ENDS,
    CHECK_EDGE_ADDRESSES,
    CHECK_EDGE_KINDS,
    CHECK_EDGE_TWICE,
    CHECK_EDGE_TAKEN,
    CHECK_EDGE_THREADS,
    CHECK_ENTRY_EXIT,
    CHECK_FLOW,
    CHECK_CONNECTED,
    CHECK_INSTRUCTIONS,
    CHECK_BUS_MODEL,
    CHECK_BUS_FETCHES,
    CHECK_BUS_BLOCKS,
    CHECK_BUS_COUNTS,
    CHECK_TRACE_FORMAT,
    CHECK_TRACE_PROCESS,
    CHECK_TRACE_TABLE,
    CHECK_TRACE_THREAD,
    CHECK_TRACE_ORDER,
    CHECK_TRACE_EDGES,
    CHECK_TRACE_INSTRUCTIONS,
    CHECK_TRACE_SEQUENCE,
    CHECK_TRACE_COUNTS,
    CHECK_RULES
};

/* A rule: its name in output, the sections of the specification, and its text. */
struct check_rule_row {
    const char *name;
    const char *sections;
    const char *text;
};
const struct check_rule_row *check_rule_row(enum check_rule rule);

struct check_failure {
    enum check_rule rule;
    char path[DCFG_PATH_BYTES]; /* in the file; empty: the message names the location */
    char message[352];
};

/* Number of items checked. */
struct check_summary {
    uint64_t processes, threads, images, symbols, lines, blocks, edges, routines, loops;
    uint64_t instructions; /* executed, according to the edges' counts */
    bool chunks;           /* the instructions are visits of chunks: the graph is from a bus */
    uint64_t trace_threads, trace_chunks, trace_edges;
};

struct check_settings {
    uint64_t failures_max;    /* failures kept, of graph and trace each */
    uint64_t memory_max;      /* in bytes, besides the graph itself */
    uint64_t trace_edges_max; /* maximum number of edges to expand; more are an error */
};

/* Defaults: 100 failures, 4 GiB, 10^11 edges. */
struct check_settings check_settings_default(void);

struct check;

/* settings may be NULL. NULL and *error without memory. */
struct check *check_new(const struct check_settings *settings, struct bt_error *error);
void check_free(struct check *check);

/* Checks a sealed graph. 0 even with failures; BT_MEMORY without memory or above memory_max. */
int check_graph(struct check *check, const struct dcfg *graph, struct bt_error *error);

/*
 * Checks a trace against its graph. The reader must be at its beginning and should read strict
 * JSON; *read_error is its error. Input that is no DCFG-trace is a failure, too. 0, BT_IO,
 * BT_MEMORY, or BT_USAGE above trace_edges_max.
 */
int check_trace(struct check *check, const struct dcfg *graph, struct dcfg_trace_reader *reader,
                const struct bt_error *read_error, struct bt_error *error);

/* Adds a failure that a reader found; the message names the location. */
void check_add(struct check *check, enum check_rule rule, const char *message);

/* Total number of failures, the ones kept, and the number of items checked. */
uint64_t check_total(const struct check *check);
const struct check_failure *check_failures(const struct check *check, size_t *kept);
const struct check_summary *check_summary(const struct check *check);

#endif
