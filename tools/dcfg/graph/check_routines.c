/* Recomputes routines, dominators and loops, and compares: sections 2.14 and 2.15. */
#include "tools/dcfg/graph/check_internal.h"

#include "tools/dcfg/graph/check_loops.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct routine_check {
    struct check *check;
    const struct check_process *view;
    uint32_t *owner;   /* by block: its routine plus 1 */
    uint32_t *local;   /* by block: its number in its routine */
    uint32_t *listed;  /* by block: 1 + the routine that lists it as an exit */
    uint32_t *sources; /* of the edges within a routine, local numbers */
    uint32_t *targets;
    bool *broken; /* by routine: its nodes are invalid */
};

static uint32_t block_of(const struct routine_check *routines, uint32_t id)
{
    return dcfg_find_block(routines->view->process, id);
}

/* --- nodes ----------------------------------------------------------------------------------- */

static void own_node(struct routine_check *routines, uint32_t r, uint32_t n, uint32_t image)
{
    const struct dcfg_process *process = routines->view->process;
    const struct check_location location = {
        .kind = CHECK_AT_NODE, .process = process, .number = r, .part = n};
    uint32_t id = process->nodes[n].id;
    uint32_t b = block_of(routines, id);
    if (routines->view->image_of[b] != image) {
        routines->broken[r] = true;
        check_fail(routines->check, CHECK_ROUTINE_IMAGE, &location,
                   "block %" PRIu32 " is in another image", id);
    }
    if (routines->owner[b] != 0) {
        routines->broken[r] = routines->broken[routines->owner[b] - 1] = true;
        check_fail(routines->check, CHECK_ROUTINE_NODES, &location,
                   "block %" PRIu32 " is in the routine of block %" PRIu32 " already", id,
                   process->routines[routines->owner[b] - 1].entry);
        return;
    }
    routines->owner[b] = r + 1;
    routines->local[b] = n - process->routines[r].nodes.first;
}

/* Finds the routine of each block, image by image. */
static void own_nodes(struct routine_check *routines)
{
    const struct dcfg_process *process = routines->view->process;
    for (uint32_t i = 0; i < process->image_count; i++) {
        const struct dcfg_range *range = &process->images[i].routines;
        for (uint32_t r = range->first; r < range->first + range->count; r++) {
            const struct dcfg_range *nodes = &process->routines[r].nodes;
            for (uint32_t n = nodes->first; n < nodes->first + nodes->count; n++)
                own_node(routines, r, n, i);
        }
    }
    for (uint32_t r = 0; r < process->routine_count; r++) {
        const struct check_location location = {
            .kind = CHECK_AT_ROUTINE, .process = process, .number = r};
        uint32_t entry = process->routines[r].entry;
        if (routines->owner[block_of(routines, entry)] == r + 1)
            continue;
        routines->broken[r] = true;
        check_fail(routines->check, CHECK_ROUTINE_ENTRY, &location,
                   "the entry %" PRIu32 " is not among the routine's nodes", entry);
    }
}

/* Checks the blocks of images that have routines. */
static void check_owned(struct routine_check *routines)
{
    const struct dcfg_process *process = routines->view->process;
    for (uint32_t b = 0; b < routines->view->blocks; b++) {
        const struct check_location location = {
            .kind = CHECK_AT_BLOCK, .process = process, .number = b};
        if (routines->owner[b] == 0 &&
            process->images[routines->view->image_of[b]].routines.count > 0)
            check_fail(routines->check, CHECK_ROUTINE_NODES, &location,
                       "block %" PRIu32 " is in no routine", process->blocks[b].id);
    }
}

/* --- ways in and out ------------------------------------------------------------------------- */

static bool is_within_routine(const struct routine_check *routines, uint32_t e)
{
    const struct check_process *view = routines->view;
    uint32_t source = view->sources[e];
    uint32_t target = view->targets[e];
    return source < view->blocks && target < view->blocks &&
           routines->owner[source] == routines->owner[target] &&
           dcfg_edge_type_is_within_routine((enum dcfg_edge_type)view->process->edges.types[e]);
}

static void check_entries(struct routine_check *routines)
{
    const struct check_process *view = routines->view;
    const struct dcfg_process *process = view->process;
    for (uint32_t e = 0; e < process->edges.count; e++) {
        uint32_t target = view->targets[e];
        if (target >= view->blocks || routines->owner[target] == 0 ||
            is_within_routine(routines, e) || dcfg_edge_type_is_return(process->edges.types[e]))
            continue;
        uint32_t r = routines->owner[target] - 1;
        if (process->blocks[target].id != process->routines[r].entry)
            check_fail_edge(routines->check, CHECK_ROUTINE_ENTRY, process, e,
                            "enters the routine of block %" PRIu32 " at block %" PRIu32
                            ", which is not its entry",
                            process->routines[r].entry, process->blocks[target].id);
    }
}

enum leaving { LEAVING = 1, LEAVING_FOR_GOOD = 2 };

/* Whether an edge of the block leaves its routine; calls return to it. */
static unsigned leaving_of(const struct routine_check *routines, uint32_t block)
{
    const struct check_process *view = routines->view;
    unsigned leaving = 0;
    for (uint32_t i = view->first_out[block]; i < view->first_out[block + 1]; i++) {
        uint32_t e = view->out[i];
        uint32_t target = view->targets[e];
        uint8_t type = view->process->edges.types[e];
        if (is_within_routine(routines, e))
            continue;
        leaving |= LEAVING;
        if (!dcfg_edge_type_is_call((enum dcfg_edge_type)type) && type != DCFG_EDGE_SYSTEM_CALL &&
            type != DCFG_EDGE_CONTEXT_CHANGE &&
            (target >= view->blocks || routines->owner[target] != routines->owner[block]))
            leaving |= LEAVING_FOR_GOOD;
    }
    return leaving;
}

static void check_exits(struct routine_check *routines, uint32_t r)
{
    const struct dcfg_process *process = routines->view->process;
    const struct dcfg_routine *routine = &process->routines[r];
    const struct check_location location = {
        .kind = CHECK_AT_ROUTINE, .process = process, .number = r};
    for (uint32_t i = 0; i < routine->exits.count; i++) {
        uint32_t id = process->ids[routine->exits.first + i];
        uint32_t b = block_of(routines, id);
        const char *wrong = routines->owner[b] != r + 1    ? "is none of its nodes"
                            : routines->listed[b] == r + 1 ? "is listed twice"
                            : leaving_of(routines, b) == 0 ? "has no edge that leaves it"
                                                           : NULL;
        routines->listed[b] = r + 1;
        if (wrong)
            check_fail(routines->check, CHECK_ROUTINE_EXITS, &location,
                       "the routine's exit %" PRIu32 " %s", id, wrong);
    }
    for (uint32_t i = 0; i < routine->nodes.count; i++) {
        uint32_t b = block_of(routines, process->nodes[routine->nodes.first + i].id);
        if (routines->listed[b] != r + 1 && (leaving_of(routines, b) & LEAVING_FOR_GOOD))
            check_fail(routines->check, CHECK_ROUTINE_EXITS, &location,
                       "edges of block %" PRIu32 " leave the routine, and it is none of its exits",
                       process->blocks[b].id);
    }
}

/* --- dominators ------------------------------------------------------------------------------ */

/* Builds the routine's own graph. */
static int make_graph(struct routine_check *routines, uint32_t r, struct digraph *graph,
                      struct bt_error *error)
{
    const struct check_process *view = routines->view;
    const struct dcfg_range *nodes = &view->process->routines[r].nodes;
    size_t count = 0;
    for (uint32_t n = 0; n < nodes->count; n++) {
        uint32_t b = block_of(routines, view->process->nodes[nodes->first + n].id);
        for (uint32_t i = view->first_out[b]; i < view->first_out[b + 1]; i++) {
            uint32_t e = view->out[i];
            if (!is_within_routine(routines, e))
                continue;
            routines->sources[count] = n;
            routines->targets[count++] = routines->local[view->targets[e]];
        }
    }
    return digraph_make(graph, nodes->count, routines->sources, routines->targets, count, error);
}

/* Returns whether all nodes are reachable. */
static bool check_dominators(struct routine_check *routines, uint32_t r,
                             const struct dominators *dominators)
{
    const struct dcfg_process *process = routines->view->process;
    const struct dcfg_routine *routine = &process->routines[r];
    bool reached = true;
    for (uint32_t n = 0; n < routine->nodes.count; n++) {
        const struct dcfg_node *node = &process->nodes[routine->nodes.first + n];
        const struct check_location location = {.kind = CHECK_AT_NODE,
                                                .process = process,
                                                .number = r,
                                                .part = routine->nodes.first + n};
        if (!dominators_reached(dominators, n)) {
            reached = false;
            check_fail(routines->check, CHECK_ROUTINE_REACHED, &location,
                       "block %" PRIu32 " cannot be reached from the routine's entry %" PRIu32,
                       node->id, routine->entry);
            continue;
        }
        uint32_t found = process->nodes[routine->nodes.first + dominators->immediate[n]].id;
        if (node->dominator != found)
            check_fail(routines->check, CHECK_DOMINATORS, &location,
                       "the immediate dominator of block %" PRIu32 " is %" PRIu32
                       ", and not %" PRIu32,
                       node->id, found, node->dominator);
    }
    return reached;
}

static int check_inside(struct routine_check *routines, uint32_t r, struct bt_error *error)
{
    const struct dcfg_process *process = routines->view->process;
    uint32_t entry = routines->local[block_of(routines, process->routines[r].entry)];
    struct digraph graph;
    struct dominators dominators;
    int result = make_graph(routines, r, &graph, error);
    if (result < 0)
        return result;
    result = dominators_find(&dominators, &graph, entry, error);
    if (result == 0) {
        const struct check_loops loops = {.check = routines->check,
                                          .view = routines->view,
                                          .routine = r,
                                          .owner = routines->owner,
                                          .local = routines->local};
        if (check_dominators(routines, r, &dominators))
            result = check_loops(&loops, &graph, &dominators, error);
        dominators_clear(&dominators);
    }
    digraph_clear(&graph);
    return result;
}

int check_routines(struct check *check, const struct check_process *view, struct bt_error *error)
{
    const struct dcfg_process *process = view->process;
    struct routine_check routines = {.check = check, .view = view};
    size_t blocks = view->blocks;
    size_t edges = process->edges.count;
    int result = BT_MEMORY;
    routines.owner = calloc(blocks * 3 + 1, sizeof(uint32_t));
    routines.sources = malloc((edges * 2 + 1) * sizeof(uint32_t));
    routines.broken = calloc((size_t)process->routine_count + 1, sizeof(bool));
    if (!routines.owner || !routines.sources || !routines.broken) {
        bt_fail(error, BT_MEMORY, "no memory for the routines of %zu blocks", blocks);
        goto out;
    }
    routines.local = routines.owner + blocks;
    routines.listed = routines.local + blocks;
    routines.targets = routines.sources + edges;
    result = 0;
    own_nodes(&routines);
    check_owned(&routines);
    if (edges == 0)
        goto out; /* without the edges, paths are unknown */
    check_entries(&routines);
    for (uint32_t r = 0; r < process->routine_count && result == 0; r++) {
        if (routines.broken[r])
            continue; /* reported already */
        check_exits(&routines, r);
        result = check_inside(&routines, r, error);
    }
out:
    free(routines.owner);
    free(routines.sources);
    free(routines.broken);
    return result;
}
