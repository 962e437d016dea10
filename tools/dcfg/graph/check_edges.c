/* Checks each edge's type against its ends: sections 2.5, 2.6 and 2.16. */
#include "tools/dcfg/graph/check_internal.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *type_name(uint8_t type)
{
    const char *name = dcfg_edge_type_name((enum dcfg_edge_type)type);
    return name ? name : "an edge of no known type";
}

static void check_ends(struct check *check, const struct check_process *view, uint32_t e)
{
    const struct dcfg_process *process = view->process;
    uint8_t type = process->edges.types[e];
    uint32_t source = view->sources[e];
    uint32_t target = view->targets[e];
    uint32_t others = check_end(view) + 1;
    if (source == others || target == others)
        check_fail_edge(check, CHECK_SPECIAL_NAMES, process, e,
                        "an edge of a special node that is neither START nor END");
    if (source == check_end(view))
        check_fail_edge(check, CHECK_EDGE_ENDS, process, e, "an edge from END");
    else if ((type == DCFG_EDGE_ENTRY) != (source == check_start(view)))
        check_fail_edge(check, CHECK_EDGE_ENDS, process, e,
                        type == DCFG_EDGE_ENTRY ? "%s, and it is not from START"
                                                : "%s, and it is from START",
                        type_name(type));
    if (target == check_start(view))
        check_fail_edge(check, CHECK_EDGE_ENDS, process, e, "an edge to START");
    else if ((type == DCFG_EDGE_EXIT) != (target == check_end(view)))
        check_fail_edge(check, CHECK_EDGE_ENDS, process, e,
                        type == DCFG_EDGE_EXIT ? "%s, and it is not to END"
                                               : "%s, and it is to END",
                        type_name(type));
}

static void check_addresses(struct check *check, const struct check_process *view, uint32_t e)
{
    uint32_t source = view->sources[e];
    uint8_t type = view->process->edges.types[e];
    if (source >= view->blocks || view->targets[e] >= view->blocks)
        return;
    const struct dcfg_block *block = &view->process->blocks[source];
    uint64_t begin = check_address(view, source);
    uint64_t target = check_address(view, view->targets[e]);
    if (type == DCFG_EDGE_FALL_THROUGH && target != begin + block->size)
        check_fail_edge(check, CHECK_EDGE_ADDRESSES, view->process, e,
                        "FALL_THROUGH to 0x%" PRIx64 ", and the block ends at 0x%" PRIx64, target,
                        begin + block->size);
    else if (type == DCFG_EDGE_REP && target != begin + block->last_instruction)
        check_fail_edge(check, CHECK_EDGE_ADDRESSES, view->process, e,
                        "REP to 0x%" PRIx64 ", and the instruction is at 0x%" PRIx64, target,
                        begin + block->last_instruction);
}

static bool is_direct(uint8_t type)
{
    return type == DCFG_EDGE_DIRECT_CALL || type == DCFG_EDGE_DIRECT_BRANCH ||
           type == DCFG_EDGE_DIRECT_CONDITIONAL_BRANCH ||
           type == DCFG_EDGE_DIRECT_UNCONDITIONAL_BRANCH;
}

/* Direct calls and branches of a block come from its last instruction, and so have one target. */
static void check_direct(struct check *check, const struct check_process *view, uint32_t block)
{
    const struct dcfg_process *process = view->process;
    uint32_t before = DCFG_NONE;
    for (uint32_t i = view->first_out[block]; i < view->first_out[block + 1]; i++) {
        uint32_t e = view->out[i];
        uint32_t target = view->targets[e];
        if (!is_direct(process->edges.types[e]) || target >= view->blocks)
            continue;
        if (before != DCFG_NONE && check_address(view, before) != check_address(view, target))
            check_fail_edge(check, CHECK_EDGE_ADDRESSES, process, e,
                            "%s to 0x%" PRIx64 ", and another edge of block %" PRIu32
                            " goes directly to 0x%" PRIx64,
                            type_name(process->edges.types[e]), check_address(view, target),
                            check_node_id(view, block), check_address(view, before));
        if (before == DCFG_NONE)
            before = target;
    }
}

/* --- the same edge twice --------------------------------------------------------------------- */

struct end {
    uint32_t target, edge;
    uint8_t type;
};

static int compare_ends(const void *left, const void *right)
{
    const struct end *a = left;
    const struct end *b = right;
    if (a->target != b->target)
        return a->target < b->target ? -1 : 1;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    return (a->edge > b->edge) - (a->edge < b->edge);
}

static void check_twice(struct check *check, const struct check_process *view, uint32_t node,
                        struct end *ends)
{
    uint32_t first = view->first_out[node];
    uint32_t count = view->first_out[node + 1] - first;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t e = view->out[first + i];
        ends[i] = (struct end){
            .target = view->targets[e], .edge = e, .type = view->process->edges.types[e]};
    }
    qsort(ends, count, sizeof *ends, compare_ends);
    for (uint32_t i = 1; i < count; i++)
        if (ends[i].target == ends[i - 1].target && ends[i].type == ends[i - 1].type)
            check_fail_edge(check, CHECK_EDGE_TWICE, view->process, ends[i].edge,
                            "edge %" PRIu32 " is edge %" PRIu32 " again",
                            view->process->edges.ids[ends[i].edge],
                            view->process->edges.ids[ends[i - 1].edge]);
}

/* --- edges without executions ---------------------------------------------------------------- */

/* Whether an edge leaves a block in a way that returns over a bypass of that type. */
static bool leaves(uint8_t bypass, uint8_t type)
{
    return bypass == DCFG_EDGE_CALL_BYPASS             ? dcfg_edge_type_is_call(type)
           : bypass == DCFG_EDGE_SYSTEM_CALL_BYPASS    ? type == DCFG_EDGE_SYSTEM_CALL
           : bypass == DCFG_EDGE_CONTEXT_CHANGE_BYPASS ? type == DCFG_EDGE_CONTEXT_CHANGE
                                                       : false;
}

/* leaving: bits of the bypass types that edges of the source correspond to. */
static void check_taken(struct check *check, const struct check_process *view, uint32_t e,
                        uint32_t leaving)
{
    const struct dcfg_process *process = view->process;
    uint8_t type = process->edges.types[e];
    if (dcfg_edge_total(process, e) > 0)
        return;
    if (!dcfg_edge_type_is_bypass((enum dcfg_edge_type)type))
        check_fail_edge(check, CHECK_EDGE_TAKEN, process, e, "%s, and no thread took it",
                        type_name(type));
    else if (!(leaving & UINT32_C(1) << type))
        check_fail_edge(check, CHECK_EDGE_TAKEN, process, e,
                        "%s without a count, and nothing that it bypasses is beside it",
                        type_name(type));
}

static void check_node(struct check *check, const struct check_process *view, uint32_t node)
{
    static const uint8_t bypasses[] = {DCFG_EDGE_CALL_BYPASS, DCFG_EDGE_SYSTEM_CALL_BYPASS,
                                       DCFG_EDGE_CONTEXT_CHANGE_BYPASS};
    uint32_t leaving = 0;
    for (uint32_t i = view->first_out[node]; i < view->first_out[node + 1]; i++)
        for (size_t k = 0; k < sizeof bypasses; k++)
            if (leaves(bypasses[k], view->process->edges.types[view->out[i]]))
                leaving |= UINT32_C(1) << bypasses[k];
    for (uint32_t i = view->first_out[node]; i < view->first_out[node + 1]; i++)
        check_taken(check, view, view->out[i], leaving);
}

static void check_threads(struct check *check, const struct dcfg_process *process)
{
    const struct dcfg_edges *edges = &process->edges;
    const struct check_location location = {
        .kind = CHECK_AT_PROCESS, .process = process, .text = "EDGES"};
    if (edges->count == 0 || process->threads_counted == 0)
        return; /* reported elsewhere */
    if (edges->fewest_counts < process->threads_counted)
        check_fail_edge(check, CHECK_EDGE_THREADS, process, edges->fewest_counts_edge,
                        "%" PRIu32 " counts, and there are %" PRIu32 " threads",
                        edges->fewest_counts, process->threads_counted);
    if (process->threads > process->threads_counted)
        check_fail(check, CHECK_EDGE_THREADS, &location,
                   "an edge has %" PRIu32 " counts, and there are %" PRIu32 " threads",
                   process->threads, process->threads_counted);
}

int check_edges(struct check *check, const struct check_process *view, struct bt_error *error)
{
    uint32_t count = view->process->edges.count;
    struct end *ends = malloc(((size_t)count + 1) * sizeof *ends);
    if (!ends)
        return bt_fail(error, BT_MEMORY, "no memory for %" PRIu32 " edges", count);
    for (uint32_t e = 0; e < count; e++) {
        check_ends(check, view, e);
        check_addresses(check, view, e);
    }
    for (uint32_t node = 0; node < view->nodes; node++) {
        check_twice(check, view, node, ends);
        check_node(check, view, node);
        if (node < view->blocks)
            check_direct(check, view, node);
    }
    free(ends);
    check_threads(check, view->process);
    return 0;
}
