#include "tools/depend/loop_judge.h"

#include "formats/base/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REASON_BYTES 512u

struct judged_loop {
    struct loop_values values;
    bool is_analysed;
    bool is_observed;     /* an iteration reads what its update of memory has stored */
    bool overwrites_kept; /* the loop overwrites what it has loaded for later iterations */
};

void loop_judge_clear(struct loop_judge *judge)
{
    for (size_t i = 0; i < judge->count; i++)
        free(judge->loops[i]);
    free(judge->loops);
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

/* A place of a dependence, in a loop. */
struct judged_place {
    uint64_t address;
    unsigned slot; /* of the loop's function, or VALUE_VARIABLE_NONE */
};

static struct judged_place judge_place(const struct loop_judge *judge,
                                       const struct loop_values *values, uint32_t loop,
                                       uint32_t context)
{
    const struct code_place *place =
        &judge->places->places[depend_context(judge->depend, context)->place];
    struct judged_place judged = {.address = place->address, .slot = VALUE_VARIABLE_NONE};
    if (place->function == judge->flow->loops[loop].function)
        judged.slot = loop_values_slot(values, place->address, read_code, judge->flow);
    return judged;
}

/* --- within an iteration -----------------------------------------------------------------------
 */

/* Whether a loop is another one, or is nested in it in the same function. */
static bool is_within(const struct loop_judge *judge, uint32_t loop, uint32_t outer)
{
    const struct code_walk *walk;
    if (loop == outer)
        return true;
    if (judge->flow->loops[loop].function != judge->flow->loops[outer].function)
        return false;
    const uint32_t wanted = find_loop(judge, outer, &walk);
    uint32_t inner = find_loop(judge, loop, &walk);
    while (inner != LOOPS_NONE && inner != wanted)
        inner = walk->loops.loops[inner].parent;
    return inner != LOOPS_NONE;
}

/* The slot if only one of two places accesses it as such; else VALUE_VARIABLE_NONE. */
static unsigned exposed_slot(const struct judged_place *a, const struct judged_place *b)
{
    if (a->slot == b->slot)
        return VALUE_VARIABLE_NONE;
    return a->slot != VALUE_VARIABLE_NONE ? a->slot : b->slot;
}

/* A dependence within an iteration. */
static void note_inner(struct judged_loop *judged, const struct depend_pair *pair,
                       const struct judged_place *sink, const struct judged_place *source)
{
    const struct loop_values *values = &judged->values;
    if (pair->kind == DEPEND_WAR) {
        judged->overwrites_kept |= loop_values_keeps(values, source->address);
        return;
    }
    const enum value_operation stored = loop_values_updates(values, source->address);
    if (pair->kind == DEPEND_RAW && stored != VALUE_NONE &&
        stored != loop_values_loads_for_update(values, sink->address))
        judged->is_observed = true;
}

/* Looks at dependences within a loop. within: by loop. Returns slots that are also accessed
 * otherwise. */
static uint64_t look_within(const struct loop_judge *judge, uint32_t loop, const bool *within,
                            struct judged_loop *judged)
{
    const struct depend *depend = judge->depend;
    const size_t pairs = depend_pair_count(depend);
    uint64_t exposed = 0;
    for (size_t i = 0; i < pairs; i++) {
        const struct depend_pair *pair = depend_pair(depend, i);
        if (pair->loop >= judge->flow->loop_count || !within[pair->loop])
            continue;
        const struct judged_place source = judge_place(judge, &judged->values, loop, pair->source);
        const struct judged_place sink = judge_place(judge, &judged->values, loop, pair->sink);
        const unsigned slot = exposed_slot(&sink, &source);
        if (slot != VALUE_VARIABLE_NONE)
            exposed |= UINT64_C(1) << (slot - VALUE_REGISTERS);
        if (pair->loop != loop || !pair->carried || pair->kind == DEPEND_WAR)
            note_inner(judged, pair, &sink, &source);
    }
    if (!(depend->settings.kinds & (1u << DEPEND_WAR)) && judged->values.kept &&
        judged->values.flow.has_stores)
        judged->overwrites_kept = true;
    return exposed;
}

/* --- loops -------------------------------------------------------------------------------------
 */

/* Finds the values again if other instructions than the analysis knows access slots. */
static int analyse_again(struct loop_judge *judge, uint32_t loop, const bool *within,
                         struct judged_loop *judged)
{
    const struct code_walk *walk;
    struct bt_error error;
    uint64_t exposed = 0, before;
    const uint32_t number = find_loop(judge, loop, &walk);
    judged->values.is_unknown = number == LOOPS_NONE;
    do {
        before = exposed;
        if (!judged->values.is_unknown && loop_values_find(&judged->values, walk, number, exposed,
                                                           read_code, judge->flow, &error) < 0)
            return BT_MEMORY;
        judged->is_observed = judged->overwrites_kept = false;
        if (!judged->values.is_unknown)
            exposed |= look_within(judge, loop, within, judged);
    } while (exposed != before);
    return 0;
}

static int analyse(struct loop_judge *judge, uint32_t loop, struct judged_loop *judged)
{
    bool *within = malloc((judge->flow->loop_count + 1) * sizeof *within);
    if (!within)
        return BT_MEMORY;
    for (uint32_t i = 0; i < judge->flow->loop_count; i++)
        within[i] = is_within(judge, i, loop);
    const int result = analyse_again(judge, loop, within, judged);
    free(within);
    return result;
}

/* NULL: no memory. */
static const struct judged_loop *judged_of(struct loop_judge *judge, uint32_t loop)
{
    const size_t before = judge->count;
    struct judged_loop **larger =
        grow_array(judge->loops, &judge->count, (size_t)loop + 1, sizeof *larger);
    if (larger) {
        judge->loops = larger;
        memset(larger + before, 0, (judge->count - before) * sizeof *larger);
        if (!larger[loop])
            larger[loop] = calloc(1, sizeof *larger[loop]);
        if (larger[loop] && !larger[loop]->is_analysed)
            judge->out_of_memory |= analyse(judge, loop, larger[loop]) < 0;
        if (larger[loop])
            larger[loop]->is_analysed = true;
    }
    judge->out_of_memory |= !larger || !larger[loop];
    return larger ? larger[loop] : NULL;
}

/* --- carried pairs -----------------------------------------------------------------------------
 */

/* A read of what an earlier iteration wrote. */
static enum depend_carry carry_read(const struct judged_loop *judged,
                                    const struct judged_place *sink,
                                    const struct judged_place *source)
{
    const struct loop_values *values = &judged->values;
    if (source->slot != VALUE_VARIABLE_NONE) {
        const unsigned kind = values->kinds[source->slot];
        if (kind == LOOP_VALUE_INDUCTION)
            return DEPEND_CARRY_NONE;
        if (sink->slot != source->slot || kind == LOOP_VALUE_NONE)
            return DEPEND_CARRY_REAL;
        return kind == LOOP_VALUE_SERIAL ? DEPEND_CARRY_SERIAL : DEPEND_CARRY_REDUCTION;
    }
    const enum value_operation stored = loop_values_updates(values, source->address);
    return !judged->is_observed && stored != VALUE_NONE &&
                   stored == loop_values_loads_for_update(values, sink->address)
               ? DEPEND_CARRY_REDUCTION
               : DEPEND_CARRY_REAL;
}

/* A write over what an earlier iteration read or wrote. */
static enum depend_carry carry_write(const struct judged_loop *judged, unsigned kind,
                                     const struct judged_place *sink,
                                     const struct judged_place *source)
{
    const struct loop_values *values = &judged->values;
    if (sink->slot != VALUE_VARIABLE_NONE && sink->slot == source->slot)
        return DEPEND_CARRY_NONE;
    const enum value_operation before = kind == DEPEND_WAR
                                            ? loop_values_loads_for_update(values, source->address)
                                            : loop_values_updates(values, source->address);
    return !judged->is_observed && before != VALUE_NONE &&
                   before == loop_values_updates(values, sink->address)
               ? DEPEND_CARRY_REDUCTION
               : DEPEND_CARRY_REAL;
}

enum depend_carry loop_judge_carry(struct loop_judge *judge, const struct depend_pair *pair)
{
    const struct judged_loop *judged = judged_of(judge, pair->loop);
    if (!judged || judged->values.is_unknown)
        return DEPEND_CARRY_REAL;
    const struct judged_place sink = judge_place(judge, &judged->values, pair->loop, pair->sink);
    const struct judged_place source =
        judge_place(judge, &judged->values, pair->loop, pair->source);
    return pair->kind == DEPEND_RAW ? carry_read(judged, &sink, &source)
                                    : carry_write(judged, pair->kind, &sink, &source);
}

/* --- values ------------------------------------------------------------------------------------
 */

static const char *register_name(unsigned variable)
{
    if (variable < VALUE_VECTORS)
        return ZydisRegisterGetString((ZydisRegister)(ZYDIS_REGISTER_RAX + variable));
    if (variable < VALUE_MASKS)
        return ZydisRegisterGetString(
            (ZydisRegister)(ZYDIS_REGISTER_XMM0 + variable - VALUE_VECTORS));
    if (variable < VALUE_X87)
        return ZydisRegisterGetString((ZydisRegister)(ZYDIS_REGISTER_K0 + variable - VALUE_MASKS));
    return variable == VALUE_X87 ? "st(0)" : "rflags";
}

static int add_reduction(const struct loop_values *values, unsigned variable,
                         depend_value_function *add, void *to, struct bt_error *error)
{
    static const char *const names[] = {[VALUE_NONE] = "a value of all iterations",
                                        [VALUE_ADD] = "a sum",
                                        [VALUE_MULTIPLY] = "a product",
                                        [VALUE_AND] = "a conjunction",
                                        [VALUE_OR] = "a disjunction",
                                        [VALUE_XOR] = "an exclusive or",
                                        [VALUE_MINIMUM] = "a minimum",
                                        [VALUE_MAXIMUM] = "a maximum",
                                        [VALUE_SELECT] = "a conditional assignment"};
    char reason[REASON_BYTES];
    snprintf(reason, sizeof reason, "register %s is %s", register_name(variable),
             names[values->operations[variable]]);
    return add(to, true, reason, error);
}

/* One reason for all registers that pass values on. */
static int add_serial(const struct loop_values *values, depend_value_function *add, void *to,
                      struct bt_error *error)
{
    char names[REASON_BYTES] = "", reason[REASON_BYTES + 80];
    unsigned count = 0;
    size_t size = 0;
    for (unsigned i = 0; i < VALUE_REGISTERS && size < sizeof names; i++)
        if (values->kinds[i] == LOOP_VALUE_SERIAL)
            size += (size_t)snprintf(names + size, sizeof names - size, "%s%s", count++ ? ", " : "",
                                     register_name(i));
    if (count == 0)
        return 0;
    snprintf(reason, sizeof reason, "%s %s %s on to the next iteration",
             count == 1 ? "register" : "registers", names,
             count == 1 ? "passes a value" : "pass values");
    return add(to, false, reason, error);
}

/* What is not about one register. */
static int add_others(const struct judged_loop *judged, depend_value_function *add, void *to,
                      struct bt_error *error)
{
    int result = 0;
    if (judged->values.is_unknown)
        return add(to, false, "the loop is too large: the values in its registers are not known",
                   error);
    if (judged->values.ends_early)
        result = add(to, false, "what an iteration loads or computes decides whether the loop ends",
                     error);
    if (result == 0 && judged->overwrites_kept)
        result = add(to, false, "a register keeps what the loop overwrites in memory", error);
    return result;
}

int loop_judge_values(struct loop_judge *judge, uint32_t loop, depend_value_function *add, void *to,
                      struct bt_error *error)
{
    const struct judged_loop *judged = judged_of(judge, loop);
    if (judge->out_of_memory)
        return bt_fail(error, BT_MEMORY, "no memory for verdicts");
    int result = add_others(judged, add, to, error);
    if (result == 0)
        result = add_serial(&judged->values, add, to, error);
    for (unsigned i = 0; i < VALUE_REGISTERS && result == 0; i++)
        if (judged->values.kinds[i] == LOOP_VALUE_REDUCTION)
            result = add_reduction(&judged->values, i, add, to, error);
    return result;
}
