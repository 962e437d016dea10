#include "tools/depend/loop_values.h"

#include "tools/depend/callee_arguments.h"

#include <stdlib.h>
#include <string.h>

static bool is_step(const struct value *value, unsigned variable, value_set unchanged)
{
    const value_set own = value_set_of(variable), rest = value_all(value) & ~own;
    if (!(value->bases & own))
        return false;
    return value->is_exact ? value->constant != 0
                           : value->operation == VALUE_ADD && !(rest & ~unchanged);
}

static bool is_unchanged(const struct value *value, unsigned variable)
{
    return value->is_exact && value->bases == value_set_of(variable) && value->constant == 0;
}

/* Variables that step by a constant, or by what does not change, and copies of them. */
static value_set find_inductions(const struct value_state *state, value_set unchanged)
{
    value_set inductions = 0, before;
    for (unsigned i = 0; i < VALUE_STORED; i++)
        if (is_step(&state->values[i], i, unchanged))
            inductions |= value_set_of(i);
    do {
        before = inductions;
        for (unsigned i = 0; i < VALUE_STORED; i++)
            if (state->values[i].is_exact && (state->values[i].bases & inductions))
                inductions |= value_set_of(i);
    } while (inductions != before);
    return inductions;
}

/* Variables that keep what an earlier iteration has loaded from an address that any iteration can
 * compute, and copies of them: compilers avoid to load an element twice. known: inductions, and
 * what does not change. */
static value_set find_loaded(struct loop_values *values, const struct value_state *state,
                             value_set known)
{
    const struct value_flow *flow = &values->flow;
    value_set loaded = 0, before;
    do {
        before = loaded;
        for (unsigned i = 0; i < VALUE_STORED; i++) {
            const struct value *value = &state->values[i];
            const value_set stored = value->bases & ~value_loads();
            const value_set address = value_flow_close(flow, value->bases) & ~value->bases;
            const bool is_load = stored == 0 && !(address & ~known & ~value_loads());
            if (!(flow->read & value_set_of(i)) || !value->is_exact || value->constant != 0 ||
                (!is_load && !(stored & loaded)))
                continue;
            loaded |= value_set_of(i);
            values->kept |= value->bases & value_loads();
        }
    } while (loaded != before);
    return loaded;
}

/* Whether the next iteration may compute the value without this one. harmless: variables on which
 * it may depend. */
static enum loop_value_kind kind_of(const struct value_flow *flow, const struct value *value,
                                    unsigned variable, value_set harmless)
{
    const value_set own = value_set_of(variable);
    if (is_unchanged(value, variable) || !(flow->read & own))
        return LOOP_VALUE_NONE;
    if (harmless & own)
        return LOOP_VALUE_INDUCTION;
    const value_set rest = value_flow_close(flow, value_all(value) & ~own);
    const bool is_combined = value->operation != VALUE_NONE && (value->bases & own) &&
                             !(value->others & own) && !(rest & ~harmless);
    const bool is_used = ((flow->used | value_flow_decided(flow)) & own) != 0;
    if (!is_combined || is_used)
        return LOOP_VALUE_SERIAL;
    /* of conditional assignments the last one remains; no iteration reads it */
    return value->operation == VALUE_SELECT ? LOOP_VALUE_NONE : LOOP_VALUE_REDUCTION;
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
 * that it computes, on loads from addresses that it computes, or on results of calls. */
static bool ends_early(const struct value_flow *flow, value_set exits, value_set known,
                       value_set unchanged)
{
    const value_set all = value_flow_close(flow, exits);
    value_set addresses = 0;
    for (unsigned i = 0; i < flow->load_count; i++)
        if (all & value_set_of(VALUE_STORED + i))
            addresses |= flow->loads[i].address_variables;
    return (all & flow->calls) != 0 ||
           (((all & ~known) | (addresses & ~unchanged)) & ~value_loads()) != 0;
}

static void classify(struct loop_values *values, const struct loop_flow_result *result)
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
    value_set harmless = inductions | unchanged | unread;
    const value_set loaded = find_loaded(values, &end, harmless);
    harmless |= loaded | value_loads(); /* the addresses of loads are in closed sets */
    for (unsigned i = 0; i < VALUE_STORED; i++) {
        const value_set own = value_set_of(i);
        if (loaded & own)
            continue;
        values->kinds[i] = (uint8_t)kind_of(flow, &end.values[i], i,
                                            inductions & own ? harmless : harmless & ~own);
        values->operations[i] = end.values[i].operation;
        /* what an iteration passes on needs its loads: they are not only for updates of memory */
        if (values->kinds[i] != LOOP_VALUE_NONE)
            flow->used |= value_all(&end.values[i]) & value_loads();
    }
    values->ends_early = ends_early(flow, result->exits, harmless, unchanged);
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
                     uint64_t exposed, loop_flow_read *read, void *context, struct bt_error *error)
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
        classify(values, result);
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

enum value_operation loop_values_updates(const struct loop_values *values, uint64_t store)
{
    const struct value_flow *flow = &values->flow;
    enum value_operation operation = VALUE_NONE;
    for (unsigned i = 0; i < flow->update_count; i++)
        if (flow->updates[i].store == store) {
            if (operation != VALUE_NONE && operation != flow->updates[i].operation)
                return VALUE_NONE;
            operation = (enum value_operation)flow->updates[i].operation;
        }
    return operation;
}

/* The load's variable; 0: there is none. */
static value_set load_variable(const struct value_flow *flow, uint64_t load)
{
    for (unsigned i = 0; i < flow->load_count; i++)
        if (flow->loads[i].address == load)
            return value_set_of(VALUE_STORED + i);
    return 0;
}

enum value_operation loop_values_loads_for_update(const struct loop_values *values, uint64_t load)
{
    const struct value_flow *flow = &values->flow;
    enum value_operation operation = VALUE_NONE;
    if (!load_variable(flow, load) ||
        ((flow->used | value_flow_decided(flow)) & load_variable(flow, load)))
        return VALUE_NONE;
    for (unsigned i = 0; i < flow->update_count; i++)
        if (flow->updates[i].load == load) {
            if (operation != VALUE_NONE && operation != flow->updates[i].operation)
                return VALUE_NONE;
            operation = (enum value_operation)flow->updates[i].operation;
        }
    return operation;
}

bool loop_values_keeps(const struct loop_values *values, uint64_t load)
{
    return (load_variable(&values->flow, load) & values->kept) != 0;
}
