/*
 * Checks that the counts can result from an execution: sections 2.8, 2.13 and 2.16. The edges of a
 * thread form one path from START to END if it leaves each node as often as it enters it, begins
 * and ends once, and its edges are connected.
 *
 * Bypasses need no special case: a bypass of counted edges has count 0, and one with a count was
 * the path.
 */
#include "tools/dcfg/graph/check_internal.h"

#include "formats/base/saturating.h"

#include <inttypes.h>
#include <stdlib.h>

struct flow_check {
    struct check *check;
    const struct check_process *view;
    uint64_t *in, *out; /* by node: number of times that the thread enters and leaves it */
    uint32_t *near;     /* by node: union-find parent, for connected nodes */
};

static uint32_t group_of(uint32_t *near, uint32_t node)
{
    while (near[node] != node) {
        near[node] = near[near[node]]; /* path halving */
        node = near[node];
    }
    return node;
}

/* Records the edges a thread took; forget resets them. */
static void note(struct flow_check *flow, uint32_t thread)
{
    const struct check_counts *counts = &flow->view->counts;
    for (uint64_t i = counts->first[thread]; i < counts->first[thread + 1]; i++) {
        uint32_t source = flow->view->sources[counts->edges[i]];
        uint32_t target = flow->view->targets[counts->edges[i]];
        flow->out[source] = saturating_add(flow->out[source], counts->counts[i]);
        flow->in[target] = saturating_add(flow->in[target], counts->counts[i]);
        flow->near[group_of(flow->near, source)] = group_of(flow->near, target);
    }
}

static void forget(struct flow_check *flow, uint32_t thread)
{
    const struct check_counts *counts = &flow->view->counts;
    for (uint64_t i = counts->first[thread]; i < counts->first[thread + 1]; i++) {
        uint32_t nodes[2] = {flow->view->sources[counts->edges[i]],
                             flow->view->targets[counts->edges[i]]};
        for (unsigned k = 0; k < 2; k++) {
            flow->in[nodes[k]] = flow->out[nodes[k]] = 0;
            flow->near[nodes[k]] = nodes[k];
        }
    }
}

static void check_balance(struct flow_check *flow, uint32_t thread, uint32_t block)
{
    const struct check_location location = {
        .kind = CHECK_AT_BLOCK, .process = flow->view->process, .number = block};
    uint64_t in = flow->in[block];
    uint64_t out = flow->out[block];
    if (in == out && in < UINT64_MAX)
        return;
    if (in == UINT64_MAX || out == UINT64_MAX)
        check_fail(flow->check, CHECK_FLOW, &location,
                   "thread %" PRIu32 " enters or leaves block %" PRIu32
                   " more often than can be counted",
                   thread, check_node_id(flow->view, block));
    else
        check_fail(flow->check, CHECK_FLOW, &location,
                   "thread %" PRIu32 " enters block %" PRIu32 " %" PRIu64
                   " times and leaves it %" PRIu64 " times",
                   thread, check_node_id(flow->view, block), in, out);
    flow->in[block] = flow->out[block] = 0; /* reported once */
}

static void check_ways(struct flow_check *flow, uint32_t thread)
{
    const struct check_process *view = flow->view;
    const struct check_counts *counts = &view->counts;
    const struct check_location location = {
        .kind = CHECK_AT_THREAD, .process = view->process, .number = thread};
    uint64_t entries = flow->out[check_start(view)];
    uint64_t exits = flow->in[check_end(view)];
    if (counts->first[thread] == counts->first[thread + 1])
        return;
    if (entries != 1 || exits != 1)
        check_fail(flow->check, CHECK_ENTRY_EXIT, &location,
                   "thread %" PRIu32 " was entered %" PRIu64 " times and left %" PRIu64 " times",
                   thread, entries, exits);
    uint32_t group =
        group_of(flow->near, entries > 0 ? check_start(view)
                                         : view->sources[counts->edges[counts->first[thread]]]);
    for (uint64_t i = counts->first[thread]; i < counts->first[thread + 1]; i++) {
        uint32_t e = counts->edges[i];
        if (group_of(flow->near, view->sources[e]) == group)
            continue;
        check_fail_edge(flow->check, CHECK_CONNECTED, view->process, e,
                        "thread %" PRIu32 " took edge %" PRIu32
                        ", and no way leads there from where it began",
                        thread, view->process->edges.ids[e]);
        break; /* further failures would be the same */
    }
}

static void check_instructions(struct flow_check *flow, uint32_t thread)
{
    const struct dcfg_process *process = flow->view->process;
    const struct check_counts *counts = &flow->view->counts;
    const struct check_location location = {
        .kind = CHECK_AT_THREAD, .process = process, .number = thread};
    uint64_t executed = 0;
    bool excluded = false; /* it executed code outside of the graph */
    for (uint64_t i = counts->first[thread]; i < counts->first[thread + 1]; i++) {
        uint32_t e = counts->edges[i];
        uint32_t instructions = check_instructions_of(flow->view, flow->view->targets[e]);
        executed = saturating_add(executed, saturating_multiply(counts->counts[i], instructions));
        /* the instructions of a system routine are not the process's */
        excluded |= process->edges.types[e] != DCFG_EDGE_SYSTEM_CALL_BYPASS &&
                    dcfg_edge_type_is_bypass((enum dcfg_edge_type)process->edges.types[e]);
    }
    flow->check->summary.instructions = saturating_add(flow->check->summary.instructions, executed);
    if (thread >= process->threads_counted)
        return;
    uint64_t given = process->thread_instructions[thread];
    if (given == executed ? executed == UINT64_MAX : !(excluded && given > executed))
        check_fail(flow->check, CHECK_INSTRUCTIONS, &location,
                   "%" PRIu64 " instructions, and the blocks that thread %" PRIu32
                   " executed have %" PRIu64,
                   given, thread, executed);
}

static void check_thread(struct flow_check *flow, uint32_t thread)
{
    const struct check_process *view = flow->view;
    const struct check_counts *counts = &view->counts;
    note(flow, thread);
    check_ways(flow, thread);
    for (uint64_t i = counts->first[thread]; i < counts->first[thread + 1]; i++) {
        uint32_t e = counts->edges[i];
        if (view->sources[e] < view->blocks)
            check_balance(flow, thread, view->sources[e]);
        if (view->targets[e] < view->blocks)
            check_balance(flow, thread, view->targets[e]);
    }
    check_instructions(flow, thread);
    forget(flow, thread);
}

/* Checks COUNT against the counts of the edges. */
static int check_block_counts(struct check *check, const struct check_process *view,
                              struct bt_error *error)
{
    uint64_t *counts = malloc(((size_t)view->blocks + 1) * sizeof *counts);
    if (!counts)
        return bt_fail(error, BT_MEMORY, "no memory for %" PRIu32 " blocks", view->blocks);
    dcfg_count_blocks(view->process, counts);
    for (uint32_t b = 0; b < view->blocks; b++) {
        const struct dcfg_block *block = &view->process->blocks[b];
        const struct check_location location = {
            .kind = CHECK_AT_BLOCK, .process = view->process, .number = b};
        if (block->count != DCFG_COUNT_UNKNOWN && block->count != counts[b])
            check_fail(check, CHECK_BLOCK_COUNT, &location,
                       "block %" PRIu32 " has the count %" PRIu64
                       ", and the edges into it %" PRIu64,
                       block->id, block->count, counts[b]);
        if (counts[b] == 0)
            check_fail(check, CHECK_BLOCK_EXECUTED, &location,
                       "block %" PRIu32 " was never executed", block->id);
    }
    free(counts);
    return 0;
}

int check_flow(struct check *check, const struct check_process *view, struct bt_error *error)
{
    struct flow_check flow = {.check = check, .view = view};
    int result = BT_MEMORY;
    flow.in = calloc((size_t)view->nodes * 2, sizeof *flow.in);
    flow.near = malloc((size_t)view->nodes * sizeof *flow.near);
    if (!flow.in || !flow.near) {
        bt_fail(error, BT_MEMORY, "no memory for %" PRIu32 " nodes", view->nodes);
        goto out;
    }
    flow.out = flow.in + view->nodes;
    for (uint32_t node = 0; node < view->nodes; node++)
        flow.near[node] = node;
    for (uint32_t t = 0; t < view->process->threads; t++)
        check_thread(&flow, t);
    result = check_block_counts(check, view, error);
out:
    free(flow.in);
    free(flow.near);
    return result;
}
