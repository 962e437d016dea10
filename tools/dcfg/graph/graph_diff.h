/* Differences between two graphs. Ids are ignored: images are matched by file name (else by its
 * last part), blocks by image and offset, edges by their ends, routines by their entries. */
#ifndef TOOLS_DCFG_GRAPH_GRAPH_DIFF_H
#define TOOLS_DCFG_GRAPH_GRAPH_DIFF_H

#include "tools/dcfg/graph/graph_profile.h"
#include "tools/dcfg/graph/names.h"

enum graph_diff_kind {
    GRAPH_DIFF_BLOCKS,   /* compared by executions */
    GRAPH_DIFF_EDGES,    /* compared by executions of all threads */
    GRAPH_DIFF_ROUTINES, /* compared by instructions executed in their blocks */
    GRAPH_DIFF_KINDS
};

struct graph_diff_row {
    uint32_t rows[2];   /* indexes in the processes' arrays; DCFG_NONE: not in this graph */
    uint64_t counts[2]; /* 0 if not in this graph */
    uint64_t change;    /* absolute difference of the counts */
    bool other;         /* differs in more than counts: size, type, threads, blocks of a routine */
};

struct graph_diff_list {
    struct graph_diff_row *rows; /* largest change first */
    uint32_t count;
    uint32_t only[2]; /* number of rows that are in this graph only */
};

struct graph_diff {
    struct graph_diff_list lists[GRAPH_DIFF_KINDS];
    bool differ; /* also if only the counts of instructions or of threads differ */
};

/*
 * Compares two processes. With names, those of each process, blocks with a symbol are matched by
 * function and offset in the function (match_functions.h), so that different builds compare; NULL:
 * by image and offset. 0 or BT_MEMORY; free with graph_diff_clear.
 */
int graph_diff_make(struct graph_diff *diff, const struct graph_profile *const profiles[2],
                    const struct names *const *names, struct bt_error *error);
void graph_diff_clear(struct graph_diff *diff);

#endif
