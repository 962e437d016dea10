#include "tools/depend/loop_values.h"

#include "tools/depend/callee_registers.h"

#include <stdlib.h>
#include <string.h>

#define NODES_MAX  2000u
#define SWEEPS_MAX 50u /* over the nodes of a loop; values change a few times only */
#define CALLEES    64u /* whose registers are remembered */

struct callee {
    uint64_t function;
    struct callee_registers registers;
};

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
    struct callee callees[CALLEES];
    unsigned callee_count;
    struct value_branch *branches; /* of each of them */
    uint32_t *index;               /* by node of the walk: its index in nodes; or count */
};

/* --- flow --------------------------------------------------------------------------------------
 */

typedef void instruction_function(struct analysis *analysis, struct value_state *state,
                                  const struct value_instruction *instruction);

/* Returns what the node's last instruction is. */
static struct value_branch each_instruction(struct analysis *analysis, uint32_t node,
                                            struct value_state *state,
                                            instruction_function *function)
{
    struct value_instruction instruction;
    struct value_branch branch = {.is_equality = false};
    uint64_t address = analysis->walk->nodes[node].start;
    while (address < analysis->walk->nodes[node].end &&
           callee_decode(&instruction, address, analysis->read, analysis->context)) {
        function(analysis, state, &instruction);
        branch = value_branch_of(&instruction);
        address += instruction.decoded.length;
    }
    return branch;
}

static void see(struct analysis *analysis, struct value_state *state,
                const struct value_instruction *instruction)
{
    (void)state;
    value_flow_see(&analysis->values->flow, instruction);
}

static struct callee_registers registers_of(struct analysis *analysis, uint64_t function)
{
    for (unsigned i = 0; i < analysis->callee_count; i++)
        if (analysis->callees[i].function == function)
            return analysis->callees[i].registers;
    const struct callee found = {function,
                                 callee_registers(function, analysis->read, analysis->context)};
    if (analysis->callee_count < CALLEES)
        analysis->callees[analysis->callee_count++] = found;
    return found.registers;
}

static void find_callee(void *context, const struct value_instruction *call, value_set *arguments,
                        value_set *clobbered)
{
    struct analysis *analysis = context;
    const struct callee_registers found =
        registers_of(analysis, callee_of(call, analysis->read, analysis->context));
    *arguments = found.arguments;
    *clobbered = found.clobbered;
}

static void execute(struct analysis *analysis, struct value_state *state,
                    const struct value_instruction *instruction)
{
    value_flow_execute(&analysis->values->flow, state, instruction);
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
        struct value_state end = analysis->ends[before];
        value_state_follow(&end, &analysis->branches[before], analysis->walk->nodes[node].start);
        if (is_reached)
            value_state_join(&analysis->values->flow, state, &end);
        else
            *state = end;
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
        analysis->branches[i] = each_instruction(analysis, analysis->nodes[i], &state, execute);
        if (analysis->is_reached[i] && value_state_is_equal(&state, &analysis->ends[i]))
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
            value_state_join(&analysis->values->flow, state, &analysis->ends[number]);
        is_first = false;
    }
    if (is_first)
        value_state_begin(state);
    for (unsigned i = 0; i < VALUE_GENERAL; i++)
        if (state->part[i] > 0 && (state->rest[i] & ~state->values[i].bases) != 0)
            state->values[i] = value_of_set(value_all(&state->values[i]) | state->rest[i]);
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

/* Variables that keep what an earlier iteration has loaded from an address that any iteration can
 * compute, and copies of them: compilers avoid to load an element twice. known: inductions, and
 * what does not change. */
static value_set find_loaded(const struct value_flow *flow, const struct value_state *state,
                             value_set known)
{
    value_set loaded = 0, before;
    do {
        before = loaded;
        for (unsigned i = 0; i < VALUE_STORED; i++) {
            const struct value *value = &state->values[i];
            const value_set stored = value->bases & ~value_loads();
            const value_set address = value_flow_close(flow, value->bases) & ~value->bases;
            const bool is_load = stored == 0 && !(address & ~known & ~value_loads());
            if (value->is_exact && value->constant == 0 && (is_load || (stored & loaded)))
                loaded |= value_set_of(i);
        }
    } while (loaded != before);
    return loaded;
}

/* Whether a minimum or maximum is compared with something else than what it may become. */
static bool is_tested_otherwise(const struct value_flow *flow, value_set own)
{
    for (unsigned i = 0; i < flow->comparison_count; i++) {
        const struct value_comparison *pair = &flow->comparisons[i];
        if (!pair->is_extreme && ((value_all(&pair->left) | value_all(&pair->right)) & own))
            return true;
    }
    return false;
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
    const bool is_tested = value->operation == VALUE_EXTREME ? is_tested_otherwise(flow, own)
                                                             : (flow->compared & own) != 0;
    return is_combined && value->operation != VALUE_SELECT && !(flow->used & own) && !is_tested
               ? LOOP_VALUE_REDUCTION
               : LOOP_VALUE_SERIAL;
}

/* Registers that a call may take as arguments, as the iteration found them, are used if an
 * iteration leaves something there. */
static void use_passed(struct value_flow *flow, const struct value_state *end)
{
    for (unsigned i = 0; i < VALUE_REGISTERS; i++)
        if ((flow->passed & value_set_of(i)) && !value_is_own_or_clobbered(&end->values[i], i)) {
            flow->used |= value_set_of(i);
            flow->read |= value_set_of(i);
        }
}

static void classify(struct analysis *analysis)
{
    struct loop_values *values = analysis->values;
    struct value_state state;
    join_ends(analysis, &state);
    use_passed(&values->flow, &state);
    const value_set inductions = find_inductions(&state);
    value_set harmless = inductions;
    for (unsigned i = 0; i < VALUE_STORED; i++)
        if (is_unchanged(&state.values[i], i) || !(values->flow.read & value_set_of(i)))
            harmless |= value_set_of(i);
    const value_set loaded = find_loaded(&values->flow, &state, harmless);
    harmless |= loaded | value_loads(); /* the addresses of loads are in closed sets */
    for (unsigned i = 0; i < VALUE_STORED; i++) {
        const value_set own = value_set_of(i);
        if (loaded & own)
            continue;
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
    analysis->branches = calloc(count + 1, sizeof *analysis->branches);
    const bool has_memory = analysis->branches && stack && next && analysis->nodes &&
                            analysis->index && analysis->ends && analysis->is_reached;
    if (has_memory) {
        order_nodes(analysis, stack, next);
        for (uint32_t i = 0; i < count; i++)
            each_instruction(analysis, analysis->nodes[i], NULL, see);
        value_flow_have_seen(&analysis->values->flow);
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
    free(analysis->branches);
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
    values->flow.callee = find_callee;
    values->flow.context = &analysis;
    values->is_too_large = analysis.loop->node_count > NODES_MAX;
    const int result = values->is_too_large ? 0 : analyse(&analysis, error);
    values->flow.callee = NULL; /* callees are known; the analysis is gone */
    values->flow.context = NULL;
    return result;
}

unsigned loop_values_slot(const struct loop_values *values, uint64_t address,
                          loop_values_read *read, void *context)
{
    struct value_instruction instruction;
    if (!callee_decode(&instruction, address, read, context))
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
