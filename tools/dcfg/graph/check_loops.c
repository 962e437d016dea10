#include "tools/dcfg/graph/check_loops.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct loop_comparison {
    const struct check_loops *given;
    struct loops found;
    uint32_t *position; /* by node: index in found.nodes */
    uint32_t *loop_of;  /* by node: the computed loop that it is the head of, or LOOPS_NONE */
    uint32_t *mark;     /* by node: number of the last list that contains it */
    uint32_t lists;     /* number of lists so far */
    bool *listed;       /* by computed loop: the file has a row for it */
};

static const struct dcfg_process *process_of(const struct loop_comparison *comparison)
{
    return comparison->given->view->process;
}

/* The node with the id in the routine, or LOOPS_NONE. */
static uint32_t local_of(const struct loop_comparison *comparison, uint32_t id)
{
    const struct check_loops *given = comparison->given;
    uint32_t b = dcfg_find_block(given->view->process, id);
    return b != DCFG_NONE && given->owner[b] == given->routine + 1 ? given->local[b] : LOOPS_NONE;
}

static uint32_t id_of(const struct loop_comparison *comparison, uint32_t local)
{
    const struct dcfg_process *process = process_of(comparison);
    return process->nodes[process->routines[comparison->given->routine].nodes.first + local].id;
}

static void fail_loop(const struct loop_comparison *comparison, enum check_rule rule, uint32_t row,
                      uint32_t id, const char *what)
{
    const struct check_location location = {.kind = CHECK_AT_LOOP,
                                            .process = process_of(comparison),
                                            .number = comparison->given->routine,
                                            .part = row};
    check_fail(comparison->given->check, rule, &location,
               "loop of block %" PRIu32 ": block %" PRIu32 " %s",
               process_of(comparison)->loops[row].head, id, what);
}

/* Reports the first of count nodes that lacks the mark of the list. */
static void fail_missing(const struct loop_comparison *comparison, enum check_rule rule,
                         uint32_t row, const uint32_t *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (comparison->mark[nodes[i]] != comparison->lists) {
            fail_loop(comparison, rule, row, id_of(comparison, nodes[i]), "is missing");
            return;
        }
}

static void compare_nodes(struct loop_comparison *comparison, uint32_t row, const struct loop *loop)
{
    const struct dcfg_process *process = process_of(comparison);
    struct dcfg_range list = process->loops[row].nodes;
    uint32_t number = ++comparison->lists;
    uint32_t good = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t id = process->ids[list.first + i];
        uint32_t node = local_of(comparison, id);
        if (node == LOOPS_NONE ||
            comparison->position[node] - loop->first_node >= loop->node_count) {
            fail_loop(comparison, CHECK_LOOP_NODES, row, id, "is not in it");
        } else if (comparison->mark[node] == number) {
            fail_loop(comparison, CHECK_LOOP_NODES, row, id, "is listed twice");
        } else {
            comparison->mark[node] = number;
            good++;
        }
    }
    if (good < loop->node_count)
        fail_missing(comparison, CHECK_LOOP_NODES, row, comparison->found.nodes + loop->first_node,
                     loop->node_count);
}

static void compare_back_edges(struct loop_comparison *comparison, uint32_t row,
                               const struct loop *loop)
{
    const struct dcfg_process *process = process_of(comparison);
    const uint32_t *found = comparison->found.back_edges + loop->first_back_edge;
    struct dcfg_range list = process->loops[row].back_edges;
    uint32_t wanted = ++comparison->lists;
    uint32_t number = ++comparison->lists;
    uint32_t good = 0;
    for (uint32_t i = 0; i < loop->back_edge_count; i++)
        comparison->mark[found[i]] = wanted;
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t id = process->ids[list.first + i];
        uint32_t node = local_of(comparison, id);
        if (node != LOOPS_NONE && comparison->mark[node] == wanted) {
            comparison->mark[node] = number;
            good++;
        } else if (node != LOOPS_NONE && comparison->mark[node] == number) {
            fail_loop(comparison, CHECK_LOOP_BACK_EDGES, row, id, "is listed twice");
        } else {
            fail_loop(comparison, CHECK_LOOP_BACK_EDGES, row, id, "does not lead back to its head");
        }
    }
    if (good < loop->back_edge_count)
        fail_missing(comparison, CHECK_LOOP_BACK_EDGES, row, found, loop->back_edge_count);
}

static void compare_loop(struct loop_comparison *comparison, uint32_t row)
{
    const struct dcfg_loop *given = &process_of(comparison)->loops[row];
    uint32_t head = local_of(comparison, given->head);
    uint32_t number = head == LOOPS_NONE ? LOOPS_NONE : comparison->loop_of[head];
    if (number == LOOPS_NONE) {
        fail_loop(comparison, CHECK_LOOP_HEADS, row, given->head,
                  head == LOOPS_NONE ? "is not in this routine"
                                     : "is not a head: no edge leads back to it that it dominates");
        return;
    }
    if (comparison->listed[number])
        fail_loop(comparison, CHECK_LOOP_HEADS, row, given->head,
                  "is the head of another loop already");
    comparison->listed[number] = true;
    const struct loop *loop = &comparison->found.loops[number];
    uint32_t parent = loop->parent == LOOPS_NONE
                          ? 0
                          : id_of(comparison, comparison->found.loops[loop->parent].head);
    if (given->parent != parent && given->parent != 0)
        fail_loop(comparison, CHECK_LOOP_PARENTS, row, given->parent,
                  "is not the head of the loop around it");
    else if (given->parent != parent)
        fail_loop(comparison, CHECK_LOOP_PARENTS, row, parent, "is the head of the loop around it");
    compare_back_edges(comparison, row, loop);
    compare_nodes(comparison, row, loop);
}

static void compare(struct loop_comparison *comparison)
{
    const struct dcfg_process *process = process_of(comparison);
    const struct check_loops *given = comparison->given;
    const struct dcfg_range *rows = &process->routines[given->routine].loops;
    const struct check_location location = {
        .kind = CHECK_AT_ROUTINE, .process = process, .number = given->routine};
    for (uint32_t i = 0; i < comparison->found.count; i++) {
        const struct loop *loop = &comparison->found.loops[i];
        comparison->loop_of[loop->head] = i;
        if (loop->parent == LOOPS_NONE) /* inner loops' nodes are part of the outer loop's row */
            for (uint32_t k = loop->first_node; k < loop->first_node + loop->node_count; k++)
                comparison->position[comparison->found.nodes[k]] = k;
    }
    for (uint32_t row = rows->first; row < rows->first + rows->count; row++)
        compare_loop(comparison, row);
    for (uint32_t i = 0; i < comparison->found.count; i++)
        if (!comparison->listed[i])
            check_fail(given->check, CHECK_LOOP_HEADS, &location,
                       "the loop of block %" PRIu32 " is missing",
                       id_of(comparison, comparison->found.loops[i].head));
}

int check_loops(const struct check_loops *loops, const struct digraph *graph,
                const struct dominators *dominators, struct bt_error *error)
{
    struct loop_comparison comparison = {.given = loops};
    size_t nodes = graph->nodes;
    int result = loops_find(&comparison.found, graph, dominators, error);
    if (result < 0)
        return result;
    comparison.position = malloc((nodes * 3 + 1) * sizeof(uint32_t));
    comparison.listed = calloc((size_t)comparison.found.count + 1, sizeof(bool));
    if (comparison.position && comparison.listed) {
        comparison.loop_of = comparison.position + nodes;
        comparison.mark = comparison.loop_of + nodes;
        memset(comparison.position, 0xff, nodes * 2 * sizeof(uint32_t));
        memset(comparison.mark, 0, nodes * sizeof(uint32_t));
        compare(&comparison);
    } else {
        result = bt_fail(error, BT_MEMORY, "no memory for %zu nodes", nodes);
    }
    free(comparison.position);
    free(comparison.listed);
    loops_clear(&comparison.found);
    return result;
}
