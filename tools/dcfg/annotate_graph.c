#include "tools/dcfg/annotate_graph.h"

#include "tools/dcfg/graph/find_routine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- edges by source ------------------------------------------------------------------------- */

static void sort_edges(struct annotate_graph *graph)
{
    const struct dcfg_process *process = graph->view->process;
    uint32_t *first = graph->first_edge;
    for (uint32_t e = 0; e < process->edges.count; e++) {
        uint32_t block = dcfg_find_block(process, process->edges.sources[e]);
        if (block != DCFG_NONE)
            first[block]++;
    }
    /* end of each block's edges; filled from the end */
    for (uint32_t b = 1; b <= process->block_count; b++)
        first[b] += first[b - 1];
    for (uint32_t e = process->edges.count; e-- > 0;) {
        uint32_t block = dcfg_find_block(process, process->edges.sources[e]);
        if (block != DCFG_NONE)
            graph->edges[--first[block]] = e;
    }
}

/* --- loops ----------------------------------------------------------------------------------- */

static void place_loops(struct annotate_graph *graph)
{
    const struct dcfg_process *process = graph->view->process;
    size_t size = process->block_count * sizeof *graph->loop_of;
    memset(graph->loop_of, 0xff, size);
    memset(graph->loop_at, 0xff, size);
    for (uint32_t l = 0; l < process->loop_count; l++) {
        if (graph->loops[l].is_no_loop)
            continue;
        const struct dcfg_range *nodes = &process->loops[l].nodes;
        graph->loop_at[dcfg_find_block(process, process->loops[l].head)] = l;
        for (uint32_t n = nodes->first; n < nodes->first + nodes->count; n++) {
            uint32_t *loop = &graph->loop_of[dcfg_find_block(process, process->ids[n])];
            if (*loop == DCFG_NONE || graph->loops[*loop].depth < graph->loops[l].depth)
                *loop = l;
        }
    }
}

/* --- functions ------------------------------------------------------------------------------- */

struct order_row {
    uint64_t self;
    uint32_t function;
};

static int compare_order(const void *left, const void *right)
{
    const struct order_row *a = left;
    const struct order_row *b = right;
    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    return a->function < b->function ? -1 : 1;
}

static int sort_functions(struct annotate_graph *graph)
{
    uint32_t count = graph->calls.function_count;
    struct order_row *rows = malloc(((size_t)count + 1) * sizeof *rows);
    if (!rows)
        return BT_MEMORY;
    for (uint32_t f = 0; f < count; f++)
        rows[f] = (struct order_row){graph->calls.functions[f].self, f};
    qsort(rows, count, sizeof *rows, compare_order);
    for (uint32_t f = 0; f < count; f++)
        graph->order[f] = rows[f].function;
    graph->order_count = count;
    free(rows);
    return 0;
}

/* --- all together ---------------------------------------------------------------------------- */

static int allocate(struct annotate_graph *graph)
{
    const struct dcfg_process *process = graph->view->process;
    size_t blocks = (size_t)process->block_count + 1;
    size_t functions = (size_t)graph->calls.function_count + 1;
    graph->loop_of = malloc(blocks * sizeof *graph->loop_of);
    graph->loop_at = malloc(blocks * sizeof *graph->loop_at);
    graph->first_edge = calloc(blocks, sizeof *graph->first_edge);
    graph->edges = malloc(((size_t)process->edges.count + 1) * sizeof *graph->edges);
    graph->order = malloc(functions * sizeof *graph->order);
    return graph->loop_of && graph->loop_at && graph->first_edge && graph->edges && graph->order
               ? 0
               : BT_MEMORY;
}

int annotate_graph_make(struct annotate_graph *graph, const struct view *view,
                        const char *const *files, size_t file_count, struct bt_error *error)
{
    *graph = (struct annotate_graph){.view = view};
    graph->code = graph_code_new(view->process, files, file_count, error);
    if (!graph->code)
        return error->code;
    graph->sources = source_text_new(view->graph, error);
    if (!graph->sources || call_graph_make(&graph->calls, &view->profile, view->names, error) < 0)
        return error->code;
    graph->loops = loop_counts_make(&view->profile, NULL, error);
    if (!graph->loops)
        return error->code;
    if (allocate(graph) < 0 || sort_functions(graph) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for the indexes of %" PRIu32 " blocks",
                       view->process->block_count);
    sort_edges(graph);
    place_loops(graph);
    for (uint32_t b = 0; b < view->process->block_count; b++)
        graph->uncertain |= graph_profile_confidence(&view->profile, b) != GRAPH_CERTAIN;
    return 0;
}

void annotate_graph_clear(struct annotate_graph *graph)
{
    call_graph_clear(&graph->calls);
    graph_code_free(graph->code);
    source_text_free(graph->sources);
    free(graph->loops);
    free(graph->loop_of);
    free(graph->loop_at);
    free(graph->first_edge);
    free(graph->edges);
    thread_counts_clear(&graph->threads);
    free(graph->order);
    *graph = (struct annotate_graph){.view = NULL};
}

int annotate_graph_choose(struct annotate_graph *graph, const char *const *functions, size_t count,
                          struct bt_error *error)
{
    const struct dcfg_process *process = graph->view->process;
    bool *chosen = calloc((size_t)graph->calls.function_count + 1, sizeof *chosen);
    int result = chosen ? 0 : bt_fail(error, BT_MEMORY, "no memory for names");
    for (size_t i = 0; i < count && result == 0; i++) {
        uint32_t routine;
        result = find_routine(&routine, process, graph->view->names, functions[i], error);
        if (result == 0) {
            uint32_t entry = dcfg_find_block(process, process->routines[routine].entry);
            chosen[graph->calls.function_of[entry]] = true;
        }
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < graph->order_count && result == 0; i++)
        if (chosen[graph->order[i]])
            graph->order[kept++] = graph->order[i];
    graph->order_count = result == 0 ? kept : graph->order_count;
    free(chosen);
    return result;
}
