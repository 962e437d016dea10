#include "tools/depend/loop_judge.h"

#include "formats/base/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REASON_BYTES 120u

void loop_judge_clear(struct loop_judge *judge)
{
    for (size_t i = 0; i < judge->count; i++)
        free(judge->values[i]);
    free(judge->values);
}

static size_t read_code(void *context, uint64_t address, const uint8_t **code)
{
    return feed_flow_read(context, address, code);
}

/* The number of a loop in the walk of its function; LOOPS_NONE: it has gone. */
static uint32_t find_loop(const struct loop_judge *judge, uint32_t loop,
                          const struct code_walk **walk)
{
    const struct feed_loop *wanted = &judge->flow->loops[loop];
    *walk = &judge->flow->by_number[wanted->function]->walk;
    for (uint32_t i = 0; i < (*walk)->loops.count; i++)
        if ((*walk)->nodes[(*walk)->loops.loops[i].head].start == wanted->head)
            return i;
    return LOOPS_NONE;
}

/* NULL: no memory, or the loop has gone. */
static const struct loop_values *values_of(struct loop_judge *judge, uint32_t loop)
{
    const struct code_walk *walk;
    const size_t before = judge->count;
    struct bt_error error;
    struct loop_values **larger =
        grow_array(judge->values, &judge->count, (size_t)loop + 1, sizeof *larger);
    if (!larger)
        return NULL;
    judge->values = larger;
    memset(larger + before, 0, (judge->count - before) * sizeof *larger);
    if (larger[loop])
        return larger[loop]->is_too_large ? NULL : larger[loop];
    const uint32_t number = find_loop(judge, loop, &walk);
    struct loop_values *values = calloc(1, sizeof *values);
    larger[loop] = values;
    if (!values)
        return NULL;
    if (number == LOOPS_NONE ||
        loop_values_find(values, walk, number, read_code, judge->flow, &error) < 0)
        values->is_too_large = true;
    return values->is_too_large ? NULL : values;
}

/* A place of a dependence, in a loop. */
struct judged_place {
    uint64_t address;
    unsigned slot; /* of the loop's function, or VALUE_VARIABLE_NONE */
};

static struct judged_place judge_place(const struct loop_judge *judge,
                                       const struct loop_values *values,
                                       const struct depend_pair *pair, uint32_t context)
{
    const struct code_place *place =
        &judge->places->places[depend_context(judge->depend, context)->place];
    struct judged_place judged = {.address = place->address, .slot = VALUE_VARIABLE_NONE};
    if (place->function == judge->flow->loops[pair->loop].function)
        judged.slot = loop_values_slot(values, place->address, read_code, judge->flow);
    return judged;
}

/* A read of what an earlier iteration wrote. */
static enum depend_carry carry_read(const struct loop_values *values,
                                    const struct judged_place *sink,
                                    const struct judged_place *source)
{
    if (source->slot != VALUE_VARIABLE_NONE) {
        if (values->kinds[source->slot] == LOOP_VALUE_INDUCTION)
            return DEPEND_CARRY_NONE;
        if (values->kinds[source->slot] == LOOP_VALUE_SERIAL && sink->slot == source->slot)
            return DEPEND_CARRY_SERIAL;
        return values->kinds[source->slot] == LOOP_VALUE_REDUCTION && sink->slot == source->slot
                   ? DEPEND_CARRY_REDUCTION
                   : DEPEND_CARRY_REAL;
    }
    return loop_values_updates(values, source->address) &&
                   loop_values_loads_for_update(values, sink->address)
               ? DEPEND_CARRY_REDUCTION
               : DEPEND_CARRY_REAL;
}

/* A write over what an earlier iteration read or wrote. */
static enum depend_carry carry_write(const struct loop_values *values, unsigned kind,
                                     const struct judged_place *sink,
                                     const struct judged_place *source)
{
    if (sink->slot != VALUE_VARIABLE_NONE && sink->slot == source->slot)
        return DEPEND_CARRY_NONE;
    const bool is_source = kind == DEPEND_WAR
                               ? loop_values_loads_for_update(values, source->address)
                               : loop_values_updates(values, source->address);
    return is_source && loop_values_updates(values, sink->address) ? DEPEND_CARRY_REDUCTION
                                                                   : DEPEND_CARRY_REAL;
}

enum depend_carry loop_judge_carry(struct loop_judge *judge, const struct depend_pair *pair)
{
    const struct loop_values *values = values_of(judge, pair->loop);
    if (!values)
        return DEPEND_CARRY_REAL;
    const struct judged_place sink = judge_place(judge, values, pair, pair->sink);
    const struct judged_place source = judge_place(judge, values, pair, pair->source);
    return pair->kind == DEPEND_RAW ? carry_read(values, &sink, &source)
                                    : carry_write(values, pair->kind, &sink, &source);
}

static void explain(const struct loop_values *values, unsigned variable, char *text, size_t size)
{
    static const char *const names[] = {[VALUE_NONE] = "a value of all iterations",
                                        [VALUE_ADD] = "a sum",
                                        [VALUE_MULTIPLY] = "a product",
                                        [VALUE_AND] = "a conjunction",
                                        [VALUE_OR] = "a disjunction",
                                        [VALUE_XOR] = "an exclusive or",
                                        [VALUE_MINIMUM] = "a minimum",
                                        [VALUE_MAXIMUM] = "a maximum",
                                        [VALUE_EXTREME] = "a minimum or maximum"};
    const char *name = ZydisRegisterGetString(
        variable < 16 ? (ZydisRegister)(ZYDIS_REGISTER_RAX + variable)
                      : (ZydisRegister)(ZYDIS_REGISTER_XMM0 + variable - 16));
    if (values->kinds[variable] == LOOP_VALUE_REDUCTION)
        snprintf(text, size, "register %s is %s", name, names[values->operations[variable]]);
    else
        snprintf(text, size, "register %s passes a value on to the next iteration", name);
}

int loop_judge_values(struct loop_judge *judge, uint32_t loop, depend_value_function *add, void *to,
                      struct bt_error *error)
{
    const struct loop_values *values = values_of(judge, loop);
    char reason[REASON_BYTES];
    int result = 0;
    for (unsigned i = 0; values && i < VALUE_REGISTERS && result == 0; i++) {
        const bool is_reduction = values->kinds[i] == LOOP_VALUE_REDUCTION;
        if (!is_reduction && values->kinds[i] != LOOP_VALUE_SERIAL)
            continue;
        explain(values, i, reason, sizeof reason);
        result = add(to, is_reduction, reason, error);
    }
    return result;
}
