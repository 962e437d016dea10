#include "tools/depend/loop_flow.h"

#include "tools/cfg/loop_control.h"

#include <stdlib.h>

#define NODES_MAX  2000u
#define SWEEPS_MAX 50u /* over the nodes of a loop; values change a few times only */

/* The analysis of one loop. Nodes of the loop have numbers in reverse postorder, but for inner back
 * edges. */
struct analysis {
    struct value_flow *flow;
    const struct code_walk *walk;
    const struct loop *loop;
    loop_flow_read *read;
    void *context;
    uint32_t *nodes;             /* of the walk */
    uint32_t *index;             /* by node of the walk: its number; or loop->node_count */
    struct value_state *ends;    /* at the end of each node */
    bool *is_reached;            /* ends[] is valid */
    bool is_cut;                 /* an instruction could not be decoded */
    value_set *controls;         /* variables that decide whether a node is executed */
    struct loop_control control; /* without values */
};

bool loop_flow_decode(loop_flow_read *read, void *context, uint64_t address,
                      struct value_instruction *instruction)
{
    ZydisDecoder decoder;
    const uint8_t *code;
    const size_t size = read(context, address, &code);
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    instruction->address = address;
    return size > 0 && ZYAN_SUCCESS(ZydisDecoderDecodeFull(
                           &decoder, code, size, &instruction->decoded, instruction->operands));
}

/* state: NULL: only looks for slots. */
static void execute_node(struct analysis *analysis, uint32_t number, struct value_state *state)
{
    struct value_instruction instruction;
    const struct code_node *node = &analysis->walk->nodes[analysis->nodes[number]];
    uint64_t address = node->start;
    analysis->flow->control = analysis->controls[number];
    while (address < node->end &&
           loop_flow_decode(analysis->read, analysis->context, address, &instruction)) {
        if (state)
            value_flow_execute(analysis->flow, state, &instruction);
        else
            value_flow_see(analysis->flow, &instruction);
        address += instruction.decoded.length;
    }
    analysis->is_cut |= address < node->end;
}

/* --- paths -------------------------------------------------------------------------------------
 */

static uint32_t successor_count(const struct analysis *analysis, uint32_t number)
{
    const uint32_t node = analysis->nodes[number];
    return analysis->walk->graph.first_successor[node + 1] -
           analysis->walk->graph.first_successor[node];
}

/* The number of the only node that leads to a node; or loop->node_count. */
static uint32_t only_predecessor(const struct analysis *analysis, uint32_t number)
{
    const struct digraph *graph = &analysis->walk->graph;
    const uint32_t node = analysis->nodes[number];
    if (node == analysis->loop->head ||
        graph->first_predecessor[node + 1] - graph->first_predecessor[node] != 1)
        return analysis->loop->node_count;
    return analysis->index[graph->predecessors[graph->first_predecessor[node]]];
}

/* Whether the last jump of a node leads to an address when it is taken. */
static bool is_taken_to(const struct analysis *analysis, uint32_t number, uint32_t node)
{
    return analysis->walk->nodes[node].start != analysis->walk->nodes[analysis->nodes[number]].end;
}

/* Finds minima and maxima where the two ways of a branch meet again in a node: at once, or after
 * one node on one way or both. */
static void choose(const struct analysis *analysis, uint32_t a, uint32_t b, uint32_t node,
                   struct value_state *state)
{
    const uint32_t before_a = only_predecessor(analysis, a);
    const uint32_t before_b = only_predecessor(analysis, b);
    uint32_t branch = before_a == before_b ? before_a : analysis->loop->node_count;
    if (before_b == a || before_a == b)
        branch = before_b == a ? a : b;
    if (branch == analysis->loop->node_count || successor_count(analysis, branch) != 2)
        return;
    const struct value_state *decided = &analysis->ends[branch];
    const bool is_a_taken = is_taken_to(analysis, branch, branch == a ? node : analysis->nodes[a]);
    const struct value_state *first = &analysis->ends[a], *second = &analysis->ends[b];
    const value_set chosen = value_state_choose(state, decided, is_a_taken ? second : first,
                                                is_a_taken ? first : second);
    value_flow_decide(analysis->flow, &decided->flags, decided->decision, chosen);
}

/* What decides by which way control has come to the end of a node. */
static value_set decision_of(const struct analysis *analysis, uint32_t number)
{
    return analysis->controls[number] |
           (successor_count(analysis, number) > 1 ? analysis->ends[number].decision : 0);
}

/* The state after a node's last jump, to a node of the walk. */
static void leave_node(const struct analysis *analysis, uint32_t number, uint32_t into,
                       struct value_state *state)
{
    *state = analysis->ends[number];
    if (successor_count(analysis, number) == 2)
        value_state_leave(state, is_taken_to(analysis, number, into));
}

/* Joins the ends of nodes, in a node. False: none of them is reached yet. */
static bool join_nodes(const struct analysis *analysis, const uint32_t *nodes, uint32_t count,
                       uint32_t into, struct value_state *state)
{
    uint32_t reached = 0, first[2] = {0};
    value_set decision = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = analysis->index[nodes[i]];
        if (number == analysis->loop->node_count || !analysis->is_reached[number])
            continue;
        if (reached < 2)
            first[reached] = number;
        reached++;
        decision |= decision_of(analysis, number);
    }
    if (reached == 0)
        return false;
    leave_node(analysis, first[0], into, state);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = analysis->index[nodes[i]];
        if (number != analysis->loop->node_count && analysis->is_reached[number] &&
            number != first[0]) {
            struct value_state other;
            leave_node(analysis, number, into, &other);
            value_state_join(state, &other, decision, into);
        }
    }
    if (reached == 2 && first[0] != first[1])
        choose(analysis, first[0], first[1], into, state);
    state->decision = 0;
    state->condition = VALUE_CONDITION_OTHER;
    return true;
}

/* What a node begins with. False: it is not reached yet. */
static bool begin_node(const struct analysis *analysis, uint32_t number, struct value_state *state)
{
    const struct digraph *graph = &analysis->walk->graph;
    const uint32_t node = analysis->nodes[number];
    const uint32_t first = graph->first_predecessor[node];
    if (node == analysis->loop->head) {
        value_state_begin(state);
        return true;
    }
    return join_nodes(analysis, graph->predecessors + first,
                      graph->first_predecessor[node + 1] - first, node, state);
}

/* A branch decides about nodes up to the first one that both ways pass. */
static bool spread_decision(struct analysis *analysis, uint32_t number)
{
    const struct digraph *graph = &analysis->walk->graph;
    const uint32_t node = analysis->nodes[number], *after = analysis->control.after;
    const value_set decision = decision_of(analysis, number);
    bool has_changed = false;
    for (uint32_t i = graph->first_successor[node]; i < graph->first_successor[node + 1]; i++) {
        uint32_t to = analysis->index[graph->successors[i]];
        if (graph->successors[i] == analysis->loop->head)
            continue;
        for (; to != after[number] && to != analysis->loop->node_count; to = after[to]) {
            has_changed |= (decision & ~analysis->controls[to]) != 0;
            analysis->controls[to] |= decision;
        }
    }
    return has_changed;
}

/* Returns whether anything has changed. */
static bool sweep(struct analysis *analysis)
{
    struct value_state state;
    bool has_changed = false;
    value_flow_restart(analysis->flow);
    for (uint32_t i = 0; i < analysis->loop->node_count; i++) {
        if (!begin_node(analysis, i, &state))
            continue;
        execute_node(analysis, i, &state);
        if (!analysis->is_reached[i] || !value_state_is_equal(&state, &analysis->ends[i]))
            has_changed = true;
        analysis->ends[i] = state;
        analysis->is_reached[i] = true;
        if (successor_count(analysis, i) > 1 && spread_decision(analysis, i))
            has_changed = true;
    }
    return has_changed;
}

/* --- the loop ----------------------------------------------------------------------------------
 */

static value_set find_exits(const struct analysis *analysis)
{
    const struct digraph *graph = &analysis->walk->graph;
    value_set exits = 0;
    for (uint32_t i = 0; i < analysis->loop->node_count; i++) {
        const uint32_t node = analysis->nodes[i];
        for (uint32_t k = graph->first_successor[node]; k < graph->first_successor[node + 1]; k++)
            if (analysis->index[graph->successors[k]] == analysis->loop->node_count &&
                analysis->is_reached[i])
                exits |= decision_of(analysis, i);
        if (analysis->walk->nodes[node].leaves && analysis->is_reached[i])
            exits |= decision_of(analysis, i) | analysis->ends[i].decision;
    }
    return exits;
}

/* Puts the loop's nodes in reverse postorder from its head. */
static void order_nodes(struct analysis *analysis, uint32_t *stack, uint32_t *next)
{
    const struct digraph *graph = &analysis->walk->graph;
    const uint32_t count = analysis->loop->node_count, unseen = count + 1;
    const uint32_t *members = analysis->walk->loops.nodes + analysis->loop->first_node;
    uint32_t depth = 0, place = count;
    for (uint32_t i = 0; i < graph->nodes; i++)
        analysis->index[i] = count;
    for (uint32_t i = 0; i < count; i++)
        analysis->index[members[i]] = unseen;
    stack[depth++] = analysis->loop->head;
    analysis->index[analysis->loop->head] = unseen + 1;
    next[analysis->loop->head] = graph->first_successor[analysis->loop->head];
    while (depth > 0) {
        const uint32_t node = stack[depth - 1];
        if (next[node] == graph->first_successor[node + 1]) {
            analysis->nodes[--place] = node;
            depth--;
            continue;
        }
        const uint32_t to = graph->successors[next[node]++];
        if (analysis->index[to] != unseen)
            continue;
        analysis->index[to] = unseen + 1;
        next[to] = graph->first_successor[to];
        stack[depth++] = to;
    }
    for (uint32_t i = 0; i < count; i++)
        analysis->index[analysis->nodes[i]] = i;
}

static int prepare(struct analysis *analysis, struct bt_error *error)
{
    const size_t count = analysis->loop->node_count, all = analysis->walk->graph.nodes;
    uint32_t *stack = malloc((count + 1) * sizeof *stack);
    uint32_t *next = malloc((all + 1) * sizeof *next);
    analysis->nodes = malloc((count + 1) * sizeof *analysis->nodes);
    analysis->index = malloc((all + 1) * sizeof *analysis->index);
    analysis->ends = malloc((count + 1) * sizeof *analysis->ends);
    analysis->is_reached = calloc(count + 1, sizeof *analysis->is_reached);
    analysis->controls = calloc(count + 1, sizeof *analysis->controls);
    const bool has_memory = stack && next && analysis->nodes && analysis->index && analysis->ends &&
                            analysis->is_reached && analysis->controls;
    if (has_memory)
        order_nodes(analysis, stack, next);
    free(stack);
    free(next);
    if (!has_memory)
        return bt_fail(error, BT_MEMORY, "no memory for the values of a loop");
    return loop_control_make(&analysis->control, analysis->walk, analysis->loop, analysis->nodes,
                             analysis->index, error);
}

static void clear(struct analysis *analysis)
{
    loop_control_clear(&analysis->control);
    free(analysis->nodes);
    free(analysis->index);
    free(analysis->ends);
    free(analysis->is_reached);
    free(analysis->controls);
}

/* False: values change again and again. */
static bool settle(struct analysis *analysis)
{
    for (unsigned i = 0; i < SWEEPS_MAX; i++)
        if (!sweep(analysis))
            return true;
    return false;
}

int loop_flow_find(struct value_flow *flow, struct loop_flow_result *result,
                   const struct code_walk *walk, uint32_t loop, loop_flow_read *read, void *context,
                   struct bt_error *error)
{
    struct analysis analysis = {.flow = flow,
                                .walk = walk,
                                .loop = &walk->loops.loops[loop],
                                .read = read,
                                .context = context};
    const struct loop *found = analysis.loop;
    result->is_known = false;
    if (found->node_count > NODES_MAX || walk->is_cut)
        return 0;
    const int prepared = prepare(&analysis, error);
    for (uint32_t i = 0; i < found->node_count && prepared == 0; i++)
        execute_node(&analysis, i, NULL);
    if (prepared == 0 && settle(&analysis)) {
        result->is_known = join_nodes(&analysis, walk->loops.back_edges + found->first_back_edge,
                                      found->back_edge_count, found->head, &result->end);
        result->exits = find_exits(&analysis);
        result->is_known = result->is_known && !analysis.is_cut;
    }
    clear(&analysis);
    return prepared;
}
