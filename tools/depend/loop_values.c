#include "tools/depend/loop_values.h"

#include "tools/depend/callee_arguments.h"

#include <stdlib.h>
#include <string.h>

/* Its own value plus what does not change. Of floating-point numbers such sums are rounded: they
 * cannot be computed from the number of the iteration. */
static bool is_step(const struct value *value, unsigned variable, value_set unchanged)
{
    const value_set own = value_set_of(variable), rest = value_all(value) & ~own;
    const struct value_kind kind = value_kind_of(value, own);
    return kind.operation == VALUE_ADD && !(kind.domain & VALUE_FLOAT) && !(rest & ~unchanged);
}

static bool is_unchanged(const struct value *value, unsigned variable)
{
    return value->is_exact && value->bases == value_set_of(variable) && value->constant == 0 &&
           value->bits == 0;
}

/* Variables that step by a constant, or by what does not change. A copy of one is none: its first
 * value may be any. */
static value_set find_inductions(const struct value_state *state, value_set unchanged)
{
    value_set inductions = 0;
    for (unsigned i = 0; i < VALUE_STORED; i++)
        if (is_step(&state->values[i], i, unchanged))
            inductions |= value_set_of(i);
    return inductions;
}

/* Of a variable that the loop assigns and does not read, and whose value is used after the loop. */
static enum loop_value_kind kind_of_last(const struct loop_values *values,
                                         const struct value_state *end, unsigned variable,
                                         value_set harmless)
{
    const value_set own = value_set_of(variable);
    const struct value *value = &end->values[variable];
    if (!(value_flow_close(&values->flow, value_all(value) & ~own) & ~harmless))
        return LOOP_VALUE_LAST;
    for (unsigned i = 0; i < VALUE_STORED; i++)
        if (values->kinds[i] == LOOP_VALUE_REDUCTION && value_is_equal(&end->values[i], value))
            return LOOP_VALUE_NONE; /* a copy of the reduction */
    return LOOP_VALUE_SERIAL;
}

/* Whether the next iteration may compute the value without this one. harmless: variables on which
 * it may depend. */
static enum loop_value_kind kind_of(const struct value_flow *flow, const struct value *value,
                                    unsigned variable, value_set harmless, value_set live)
{
    const value_set own = value_set_of(variable);
    if (is_unchanged(value, variable) || !(flow->read & own))
        return LOOP_VALUE_NONE;
    if (harmless & own)
        return LOOP_VALUE_INDUCTION;
    const value_set rest = value_flow_close(flow, value_all(value) & ~own);
    const struct value_kind kind = value_kind_of(value, own);
    const bool is_combined =
        kind.operation != VALUE_NONE && !(value->others & own) && !(rest & ~harmless);
    const bool is_used = ((flow->used | value_flow_decided(flow)) & own) != 0;
    if (!is_combined || is_used)
        return LOOP_VALUE_SERIAL;
    if (kind.operation != VALUE_SELECT)
        return LOOP_VALUE_REDUCTION;
    /* of conditional assignments the last one remains; no iteration reads it */
    return live & own ? LOOP_VALUE_LAST : LOOP_VALUE_NONE;
}

/* What was set last, and not read, may be an argument of a call. */
static void find_arguments(struct value_flow *flow, const struct value_state *end)
{
    flow->read |= flow->stale & end->unread;
    flow->used |= flow->stale & end->unread;
}

/* What is in the flags, and left on the x87 stack, is for the next iteration. */
static void find_flags_and_stack(struct value_state *end)
{
    const value_set flags = end->flags.set | end->flags.carry;
    if (flags != value_set_of(VALUE_FLAGS))
        end->values[VALUE_FLAGS] = value_of_set(flags);
    struct value *stack = &end->values[VALUE_X87];
    value_set all = value_all(stack) | value_set_of(VALUE_X87);
    for (int i = 0; i < end->depth; i++)
        all |= value_all(&end->entries[i]);
    if (end->depth != 0)
        *stack = value_of_set(all);
}

/* Whether the number of iterations is not known before the loop begins: its end depends on values
 * that it computes, on loads from addresses that it computes or overwrites, or on results of calls.
 */
static bool ends_early(const struct value_flow *flow, value_set all, value_set known,
                       value_set unchanged)
{
    value_set addresses = 0;
    for (unsigned i = 0; i < flow->load_count; i++)
        if (all & value_set_of(VALUE_STORED + i))
            addresses |= flow->loads[i].address_variables;
    return (all & (flow->calls | flow->overwritten)) != 0 ||
           (((all & ~known) | (addresses & ~unchanged)) & ~value_loads()) != 0;
}

/* Finds the kinds of variables that the loop reads; then those of the others. */
static void find_kinds(struct loop_values *values, const struct value_state *end,
                       value_set inductions, value_set harmless, value_set live)
{
    struct value_flow *flow = &values->flow;
    for (unsigned i = 0; i < VALUE_STORED; i++) {
        const value_set own = value_set_of(i);
        values->kinds[i] = (uint8_t)kind_of(flow, &end->values[i], i,
                                            inductions & own ? harmless : harmless & ~own, live);
        values->operations[i] = value_kind_of(&end->values[i], own).operation;
        /* what an iteration passes on needs its loads: they are not only for updates of memory */
        if (values->kinds[i] != LOOP_VALUE_NONE)
            flow->used |= value_all(&end->values[i]) & value_loads();
    }
    for (unsigned i = 0; i < VALUE_STORED; i++)
        if (!(flow->read & value_set_of(i)) && (live & value_set_of(i)) &&
            !is_unchanged(&end->values[i], i)) {
            values->kinds[i] = (uint8_t)kind_of_last(values, end, i, harmless);
            flow->used |= value_all(&end->values[i]) & value_loads();
        }
}

static void classify(struct loop_values *values, const struct loop_flow_result *result,
                     value_set live)
{
    struct value_flow *flow = &values->flow;
    struct value_state end = result->end;
    find_arguments(flow, &end);
    find_flags_and_stack(&end);
    value_set unchanged = 0, unread = 0;
    for (unsigned i = 0; i < VALUE_STORED; i++) {
        if (is_unchanged(&end.values[i], i))
            unchanged |= value_set_of(i);
        if (!(flow->read & value_set_of(i)))
            unread |= value_set_of(i);
    }
    const value_set inductions = find_inductions(&end, unchanged);
    const value_set harmless = inductions | unchanged | unread | value_loads();
    find_kinds(values, &end, inductions, harmless, live);
    values->exits = value_flow_close(flow, result->exits);
    values->ends_early = ends_early(flow, values->exits, harmless, unchanged);
}

/* How to read code. */
struct reader {
    loop_flow_read *read;
    void *context;
};

static bool find_arguments_of(void *context, struct value_callee *callee)
{
    const struct reader *reader = context;
    return callee_arguments_find(reader->read, reader->context, callee);
}

int loop_values_find(struct loop_values *values, const struct code_walk *walk, uint32_t loop,
                     value_set live, uint64_t exposed, loop_flow_read *read, void *context,
                     struct bt_error *error)
{
    struct reader reader = {read, context};
    memset(values, 0, sizeof *values);
    values->flow.arguments = find_arguments_of;
    values->flow.context = &reader;
    values->flow.exposed = exposed;
    struct loop_flow_result *result = malloc(sizeof *result);
    if (!result)
        return bt_fail(error, BT_MEMORY, "no memory for the values of a loop");
    const int found = loop_flow_find(&values->flow, result, walk, loop, read, context, error);
    values->is_unknown = found < 0 || !result->is_known;
    if (!values->is_unknown)
        classify(values, result, live);
    values->flow.context = NULL;
    free(result);
    return found;
}

unsigned loop_values_slot(const struct loop_values *values, uint64_t address, loop_flow_read *read,
                          void *context)
{
    struct value_instruction instruction;
    if (!loop_flow_decode(read, context, address, &instruction))
        return VALUE_VARIABLE_NONE;
    return value_flow_slot(&values->flow, &instruction);
}

static const struct value_kind no_kind; /* VALUE_NONE */

struct value_kind loop_values_updates(const struct loop_values *values, uint64_t store)
{
    const struct value_flow *flow = &values->flow;
    struct value_kind kind = no_kind;
    for (unsigned i = 0; i < flow->update_count; i++)
        if (flow->updates[i].store == store) {
            if (kind.operation != VALUE_NONE && !value_kind_is_equal(kind, flow->updates[i].kind))
                return no_kind;
            kind = flow->updates[i].kind;
        }
    return kind;
}

/* The load's variable; 0: there is none. */
static value_set load_variable(const struct value_flow *flow, uint64_t load)
{
    for (unsigned i = 0; i < flow->load_count; i++)
        if (flow->loads[i].address == load)
            return value_set_of(VALUE_STORED + i);
    return 0;
}

struct value_kind loop_values_loads_for_update(const struct loop_values *values, uint64_t load)
{
    const struct value_flow *flow = &values->flow;
    const value_set variable = load_variable(flow, load);
    struct value_kind kind = no_kind;
    if (!variable || ((flow->used | flow->assigned | value_flow_decided(flow)) & variable))
        return no_kind;
    for (unsigned i = 0; i < flow->update_count; i++)
        if (flow->updates[i].load == load) {
            if (kind.operation != VALUE_NONE && !value_kind_is_equal(kind, flow->updates[i].kind))
                return no_kind;
            kind = flow->updates[i].kind;
        }
    return kind;
}

bool loop_values_decides_end(const struct loop_values *values, uint64_t load)
{
    return (load_variable(&values->flow, load) & values->exits) != 0;
}
