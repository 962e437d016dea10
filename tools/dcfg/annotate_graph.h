/* Indexes of a graph for its annotation: functions, edges by source, loops by block. */
#ifndef TOOLS_DCFG_ANNOTATE_GRAPH_H
#define TOOLS_DCFG_ANNOTATE_GRAPH_H

#include "tools/dcfg/graph/call_graph.h"
#include "tools/dcfg/graph/loop_counts.h"
#include "tools/dcfg/graph/thread_counts.h"
#include "tools/dcfg/graph_code.h"
#include "tools/dcfg/source_text.h"
#include "tools/dcfg/view_command.h"

struct annotate_graph {
    const struct view *view;
    struct call_graph calls;
    struct graph_code *code;
    struct source_text *sources;
    struct loop_count *loops;     /* by loop of the process */
    uint32_t *loop_of;            /* by block: the innermost loop; DCFG_NONE: in no loop */
    uint32_t *loop_at;            /* by block: the loop with this head; DCFG_NONE: no head */
    uint32_t *first_edge;         /* by block, and one more: index of its first edge in edges */
    uint32_t *edges;              /* edge numbers, sorted by source */
    struct thread_counts threads; /* none, until thread_counts_make() */
    uint32_t *order;              /* functions, those with the most instructions first */
    uint32_t order_count;
    bool uncertain; /* some counts are not certain */
};

/* Indexes the graph of a view, which must outlive the result; files as graph_code_new(). 0 or a
 * negative code; annotate_graph_clear() in any case. */
int annotate_graph_make(struct annotate_graph *graph, const struct view *view,
                        const char *const *files, size_t file_count, struct bt_error *error);
void annotate_graph_clear(struct annotate_graph *graph);

/* Leaves only the functions with these names (as find_routine) in the order. 0 or BT_USAGE. */
int annotate_graph_choose(struct annotate_graph *graph, const char *const *functions, size_t count,
                          struct bt_error *error);

#endif
