/* Prints slices and chains of dependences: as text, JSON or a graph for Graphviz. */
#ifndef TOOLS_WET_SLICE_SLICE_PRINT_H
#define TOOLS_WET_SLICE_SLICE_PRINT_H

#include "tools/wet/slice/slice_facts.h"

#include <stdio.h>

struct slice_report {
    const struct wet_trace *trace;
    const char *where; /* of the criterion, as the user has named it */
    bool forward, data, by_instruction;
    uint32_t depth; /* SLICE_DEPTH_ALL: any */
    const struct slice_result *result;
    const struct slice_rows *rows;
    const struct slice_values *values; /* NULL: not wanted */
    const struct slice_edges *edges;   /* for slice_print_dot() */
};

/* 0 or BT_MEMORY. The caller checks the stream for errors. */
int slice_print_text(const struct slice_report *report, FILE *out);
int slice_print_json(const struct slice_report *report, FILE *out);
void slice_print_dot(const struct slice_report *report, FILE *out);

/* A chain of dependences: link after link, the last of which begins at the criterion. */
struct slice_chain {
    const struct wet_trace *trace;
    const char *from, *to;          /* as the user has named them: `from` depends on `to` */
    const struct slice_link *links; /* from `to` on */
    size_t count;
    const struct slice_values *values; /* NULL: not wanted */
    bool folds; /* in the text, steps in a row that are in one library are one line */
};

int slice_print_chain(const struct slice_chain *chain, FILE *out);
int slice_print_chain_json(const struct slice_chain *chain, FILE *out);

#endif
