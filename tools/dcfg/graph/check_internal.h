/* Shared by the parts of check.h: failures, and a process as arrays of numbers. */
#ifndef TOOLS_DCFG_GRAPH_CHECK_INTERNAL_H
#define TOOLS_DCFG_GRAPH_CHECK_INTERNAL_H

#include "tools/dcfg/graph/check.h"

struct check {
    struct check_settings settings;
    struct check_failure *failures;
    size_t kept, capacity;
    uint64_t kept_max; /* while checking the graph: leaves room for the trace's failures */
    uint64_t total;
    struct check_summary summary;
};

/* Location of a failure in the file. */
enum check_location_kind {
    CHECK_AT_PATH,    /* text */
    CHECK_AT_TOP,     /* text[number] of the document */
    CHECK_AT_PROCESS, /* text of the process */
    CHECK_AT_ROW,     /* text[number] of the process, which is a table */
    CHECK_AT_THREAD,  /* INSTR_COUNT_PER_THREAD[number] */
    CHECK_AT_SYMBOL,
    CHECK_AT_LINE,
    CHECK_AT_BLOCK,
    CHECK_AT_ROUTINE,
    CHECK_AT_NODE, /* of a routine */
    CHECK_AT_LOOP  /* of a routine */
};

struct check_location {
    enum check_location_kind kind;
    const struct dcfg_process *process;
    const char *text;
    uint32_t number; /* index in the process's arrays; for a part of a routine, the routine's */
    uint32_t part;
};

void check_fail(struct check *check, enum check_rule rule, const struct check_location *location,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Reports a failure at an edge's row. */
void check_fail_edge(struct check *check, enum check_rule rule, const struct dcfg_process *process,
                     uint32_t edge, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Counts of edges by thread, sorted by thread and edge. */
struct check_counts {
    uint64_t *first; /* by thread, and one more: index in edges and counts */
    uint32_t *edges;
    uint64_t *counts;
};

/* A process with numbered nodes: the blocks, then the special nodes. */
struct check_process {
    const struct dcfg_process *process;
    uint32_t blocks; /* also the number of START */
    uint32_t nodes;
    uint32_t *sources, *targets; /* by edge: nodes */
    uint32_t *image_of;          /* by block */
    uint32_t *first_out;         /* by node, and one more: index in out */
    uint32_t *out;               /* edges by source */
    struct check_counts counts;
};

#define CHECK_SPECIAL_NODES 3u

static inline uint32_t check_start(const struct check_process *view)
{
    return view->blocks;
}

static inline uint32_t check_end(const struct check_process *view)
{
    return view->blocks + 1;
}

static inline uint64_t check_address(const struct check_process *view, uint32_t block)
{
    return view->process->images[view->image_of[block]].load_address +
           view->process->blocks[block].offset;
}

/* Instructions of a node; 0 for special nodes. */
static inline uint32_t check_instructions_of(const struct check_process *view, uint32_t node)
{
    return node < view->blocks ? view->process->blocks[node].instructions : 0;
}

/* The id of a node in the file. */
uint32_t check_node_id(const struct check_process *view, uint32_t node);

/* 0 or BT_MEMORY; check_process_clear in any case. */
int check_process_make(struct check_process *view, const struct dcfg_process *process,
                       const struct check_settings *settings, struct bt_error *error);
void check_process_clear(struct check_process *view);

/* --- the parts: 0 or BT_MEMORY --- */

void check_top(struct check *check, const struct dcfg *graph);
int check_tables(struct check *check, const struct check_process *view, struct bt_error *error);
int check_layout(struct check *check, const struct check_process *view, struct bt_error *error);
int check_edges(struct check *check, const struct check_process *view, struct bt_error *error);
void check_endings(struct check *check, const struct check_process *view);
int check_flow(struct check *check, const struct check_process *view, struct bt_error *error);
int check_routines(struct check *check, const struct check_process *view, struct bt_error *error);
int check_bus(struct check *check, const struct dcfg *graph, struct bt_error *error);

#endif
