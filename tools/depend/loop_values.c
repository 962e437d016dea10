#include "tools/depend/loop_values.h"

#include <stdlib.h>
#include <string.h>

#define NODES_MAX  2000u
#define SWEEPS_MAX 50u /* over the nodes of a loop; values change a few times only */

/* The analysis of one loop. */
struct analysis {
    struct loop_values *values;
    const struct code_walk *walk;
    const struct loop *loop;
    loop_values_read *read;
    void *context;
    uint32_t *nodes;          /* of the loop, in reverse postorder but for inner back edges */
    struct value_state *ends; /* at the end of each of them */
    bool *is_reached;         /* ends[] is valid */
    uint32_t *index;          /* by node of the walk: its index in nodes; or count */
};

static bool decode_at(loop_values_read *read, void *context, uint64_t address,
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

/* --- flow --------------------------------------------------------------------------------------
 */

typedef void instruction_function(struct analysis *analysis, struct value_state *state,
                                  const struct value_instruction *instruction);

static void each_instruction(struct analysis *analysis, uint32_t node, struct value_state *state,
                             instruction_function *function)
{
    struct value_instruction instruction;
    uint64_t address = analysis->walk->nodes[node].start;
    while (address < analysis->walk->nodes[node].end &&
           decode_at(analysis->read, analysis->context, address, &instruction)) {
        function(analysis, state, &instruction);
        address += instruction.decoded.length;
    }
}

static void see(struct analysis *analysis, struct value_state *state,
                const struct value_instruction *instruction)
{
    (void)state;
    value_flow_see(&analysis->values->flow, instruction);
}

static void execute(struct analysis *analysis, struct value_state *state,
                    const struct value_instruction *instruction)
{
    value_flow_execute(&analysis->values->flow, state, instruction);
}

static void join(struct value_state *state, const struct value_state *other)
{
    for (unsigned i = 0; i < VALUE_STORED; i++)
        state->values[i] = value_join(&state->values[i], &other->values[i]);
    state->flags |= other->flags;
}

static bool is_equal(const struct value_state *a, const struct value_state *b)
{
    for (unsigned i = 0; i < VALUE_STORED; i++)
        if (!value_is_equal(&a->values[i], &b->values[i]))
            return false;
    return a->flags == b->flags;
}

/* What a node begins with. False: it is not reached yet. */
static bool begin_node(const struct analysis *analysis, uint32_t number, struct value_state *state)
{
    const struct digraph *graph = &analysis->walk->graph;
    const uint32_t node = analysis->nodes[number];
    bool is_reached = false;
    if (node == analysis->loop->head) {
        value_state_begin(state);
        return true;
    }
    for (uint32_t i = graph->first_predecessor[node]; i < graph->first_predecessor[node + 1]; i++) {
        const uint32_t before = analysis->index[graph->predecessors[i]];
        if (before == analysis->loop->node_count || !analysis->is_reached[before])
            continue;
        if (is_reached)
            join(state, &analysis->ends[before]);
        else
            *state = analysis->ends[before];
        is_reached = true;
    }
    return is_reached;
}

/* Returns whether anything has changed. */
static bool sweep(struct analysis *analysis)
{
    struct value_state state;
    bool has_changed = false;
    for (uint32_t i = 0; i < analysis->loop->node_count; i++) {
        if (!begin_node(analysis, i, &state))
            continue;
        value_flow_begin_block(&analysis->values->flow);
        each_instruction(analysis, analysis->nodes[i], &state, execute);
        if (analysis->is_reached[i] && is_equal(&state, &analysis->ends[i]))
            continue;
        analysis->ends[i] = state;
        analysis->is_reached[i] = has_changed = true;
    }
    return has_changed;
}

/* The values at the end of an iteration. */
static void join_ends(const struct analysis *analysis, struct value_state *state)
{
    bool is_first = true;
    for (uint32_t i = 0; i < analysis->loop->back_edge_count; i++) {
        const uint32_t node = analysis->walk->loops.back_edges[analysis->loop->first_back_edge + i];
        const uint32_t number = analysis->index[node];
        if (number == analysis->loop->node_count || !analysis->is_reached[number])
            continue;
        if (is_first)
            *state = analysis->ends[number];
        else
            join(state, &analysis->ends[number]);
        is_first = false;
    }
    if (is_first)
        value_state_begin(state);
}

/* --- kinds -------------------------------------------------------------------------------------
 */

static bool is_step(const struct value *value, unsigned variable)
{
    return value->is_exact && value->bases == value_set_of(variable) && value->constant != 0;
}

/* Variables that step by a constant, and copies of them. */
static value_set find_inductions(const struct value_state *state)
{
    value_set inductions = 0, before;
    for (unsigned i = 0; i < VALUE_STORED; i++)
        if (is_step(&state->values[i], i))
            inductions |= value_set_of(i);
    do {
        before = inductions;
        for (unsigned i = 0; i < VALUE_STORED; i++)
            if (state->values[i].is_exact && (state->values[i].bases & inductions))
                inductions |= value_set_of(i);
    } while (inductions != before);
    return inductions;
}

static bool is_unchanged(const struct value *value, unsigned variable)
{
    return value->is_exact && value->bases == value_set_of(variable) && value->constant == 0;
}

/* Whether the next iteration may compute the value without this one. harmless: variables on which
 * it may depend. */
static enum loop_value_kind kind_of(const struct analysis *analysis, const struct value *value,
                                    unsigned variable, value_set harmless)
{
    const struct value_flow *flow = &analysis->values->flow;
    const value_set own = value_set_of(variable);
    if (is_unchanged(value, variable) || !(flow->read & own))
        return LOOP_VALUE_NONE;
    if (harmless & own)
        return LOOP_VALUE_INDUCTION;
    const value_set rest = value_flow_close(flow, value_all(value) & ~own);
    const bool is_combined = value->operation != VALUE_NONE && (value->bases & own) &&
                             !(value->others & own) && !(rest & ~harmless);
    if (is_combined && value->operation == VALUE_SELECT && !((flow->used | flow->compared) & own))
        return LOOP_VALUE_NONE; /* the last assignment remains; no iteration reads it */
    const bool is_used =
        (flow->used & own) || ((flow->compared & own) && value->operation != VALUE_SELECT);
    return is_combined && !is_used ? LOOP_VALUE_REDUCTION : LOOP_VALUE_SERIAL;
}

static void classify(struct analysis *analysis)
{
    struct loop_values *values = analysis->values;
    struct value_state state;
    join_ends(analysis, &state);
    const value_set inductions = find_inductions(&state);
    value_set harmless = inductions;
    for (unsigned i = 0; i < VALUE_STORED; i++)
        if (is_unchanged(&state.values[i], i) || !(values->flow.read & value_set_of(i)))
            harmless |= value_set_of(i);
    for (unsigned i = VALUE_STORED; i < VALUE_VARIABLES; i++)
        harmless |= value_set_of(i); /* loads: their addresses are in closed sets */
    for (unsigned i = 0; i < VALUE_STORED; i++) {
        const value_set own = value_set_of(i);
        values->kinds[i] = (uint8_t)kind_of(analysis, &state.values[i], i,
                                            inductions & own ? harmless : harmless & ~own);
        values->operations[i] = state.values[i].operation;
    }
}

/* --- the loop ----------------------------------------------------------------------------------
 */

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

static int analyse(struct analysis *analysis, struct bt_error *error)
{
    const uint32_t count = analysis->loop->node_count, all = analysis->walk->graph.nodes;
    uint32_t *stack = malloc((count + 1) * sizeof *stack);
    uint32_t *next = malloc((all + 1) * sizeof *next);
    analysis->nodes = malloc((count + 1) * sizeof *analysis->nodes);
    analysis->index = malloc((all + 1) * sizeof *analysis->index);
    analysis->ends = malloc((count + 1) * sizeof *analysis->ends);
    analysis->is_reached = calloc(count + 1, sizeof *analysis->is_reached);
    const bool has_memory = stack && next && analysis->nodes && analysis->index && analysis->ends &&
                            analysis->is_reached;
    if (has_memory) {
        order_nodes(analysis, stack, next);
        for (uint32_t i = 0; i < count; i++)
            each_instruction(analysis, analysis->nodes[i], NULL, see);
        for (unsigned i = 0; i < SWEEPS_MAX && sweep(analysis); i++)
            ;
        classify(analysis);
    }
    free(stack);
    free(next);
    free(analysis->nodes);
    free(analysis->index);
    free(analysis->ends);
    free(analysis->is_reached);
    return has_memory ? 0 : bt_fail(error, BT_MEMORY, "no memory for the values of a loop");
}

int loop_values_find(struct loop_values *values, const struct code_walk *walk, uint32_t loop,
                     loop_values_read *read, void *context, struct bt_error *error)
{
    struct analysis analysis = {.values = values,
                                .walk = walk,
                                .loop = &walk->loops.loops[loop],
                                .read = read,
                                .context = context};
    memset(values, 0, sizeof *values);
    values->is_too_large = analysis.loop->node_count > NODES_MAX;
    return values->is_too_large ? 0 : analyse(&analysis, error);
}

unsigned loop_values_slot(const struct loop_values *values, uint64_t address,
                          loop_values_read *read, void *context)
{
    struct value_instruction instruction;
    if (!decode_at(read, context, address, &instruction))
        return VALUE_VARIABLE_NONE;
    return value_flow_slot(&values->flow, &instruction);
}

bool loop_values_updates(const struct loop_values *values, uint64_t store)
{
    for (unsigned i = 0; i < values->flow.update_count; i++)
        if (values->flow.updates[i].store == store)
            return true;
    return false;
}

bool loop_values_loads_for_update(const struct loop_values *values, uint64_t load)
{
    const struct value_flow *flow = &values->flow;
    bool is_used = false, is_for_update = false;
    for (unsigned i = 0; i < flow->update_count; i++)
        is_for_update = is_for_update || flow->updates[i].load == load;
    for (unsigned i = 0; i < flow->load_count; i++)
        if (flow->loads[i].address == load)
            is_used = (flow->used & value_set_of(VALUE_STORED + i)) != 0;
    return is_for_update && !is_used;
}
