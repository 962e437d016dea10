#include "tools/depend/loop_judge.h"

#include "formats/base/grow.h"
#include "tools/depend/jump_table.h"
#include "tools/depend/live_registers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REASON_BYTES 512u

struct judged_loop {
    struct loop_values values;
    bool is_analysed;
    bool is_observed; /* an iteration reads what its update of memory has stored */
    bool ends_early;  /* the loop writes what decides whether it ends */
    bool knows_jumps; /* all targets of its computed jumps are known */
};

void loop_judge_clear(struct loop_judge *judge)
{
    for (size_t i = 0; i < judge->count; i++)
        free(judge->loops[i]);
    free(judge->loops);
    free(judge->calls);
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
    const struct value_kind stored = loop_values_updates(values, source->address);
    if (pair->kind == DEPEND_RAW && stored.operation != VALUE_NONE &&
        !value_kind_is_equal(stored, loop_values_loads_for_update(values, sink->address)))
        judged->is_observed = true;
}

/* What dependences tell about slots of the stack. */
struct slots_seen {
    uint64_t exposed; /* bits 1 << slot: they are also accessed otherwise */
    value_set live;   /* variables that are read after the loop */
};

/* A read after the loop of what it has written. */
static void note_outer(const struct loop_judge *judge, uint32_t loop,
                       const struct depend_pair *pair, const struct judged_loop *judged,
                       struct slots_seen *seen)
{
    const struct code_walk *walk;
    const struct judged_place source = judge_place(judge, &judged->values, loop, pair->source);
    if (pair->kind != DEPEND_RAW || source.slot == VALUE_VARIABLE_NONE)
        return;
    const uint32_t number = find_loop(judge, loop, &walk);
    uint32_t inner = code_walk_loop(walk, code_walk_find(walk, source.address));
    while (inner != LOOPS_NONE && inner != number)
        inner = walk->loops.loops[inner].parent;
    if (inner != LOOPS_NONE)
        seen->live |= value_set_of(source.slot);
}

/* Looks at dependences within a loop, and on what it writes. within: by loop. */
static void look_within(const struct loop_judge *judge, uint32_t loop, const bool *within,
                        struct judged_loop *judged, struct slots_seen *seen)
{
    const struct depend *depend = judge->depend;
    const size_t pairs = depend_pair_count(depend);
    for (size_t i = 0; i < pairs; i++) {
        const struct depend_pair *pair = depend_pair(depend, i);
        if (pair->loop >= judge->flow->loop_count || !within[pair->loop]) {
            note_outer(judge, loop, pair, judged, seen);
            continue;
        }
        const struct judged_place source = judge_place(judge, &judged->values, loop, pair->source);
        const struct judged_place sink = judge_place(judge, &judged->values, loop, pair->sink);
        const unsigned slot = exposed_slot(&sink, &source);
        if (slot != VALUE_VARIABLE_NONE)
            seen->exposed |= UINT64_C(1) << (slot - VALUE_REGISTERS);
        judged->ends_early |=
            pair->kind == DEPEND_RAW && loop_values_decides_end(&judged->values, sink.address);
        if (pair->loop != loop || !pair->carried || pair->kind == DEPEND_WAR)
            note_inner(judged, pair, &sink, &source);
    }
}

/* --- registers that are used after the loop ----------------------------------------------------
 */

#define CALLERS_DEEP 2u /* of callers whose callers are asked */
#define CALLS_MAX    8u /* of one function that are looked at */

/* A direct call, in code that was executed. */
struct judged_call {
    uint64_t address, next, callee;
    const struct feed_function *caller;
};

/* The call at an address, if it is a direct one. */
static bool decode_call(struct feed_flow *flow, uint64_t address, struct judged_call *call)
{
    const uint8_t *code;
    int32_t distance;
    size_t size = feed_flow_read(flow, address, &code), prefix = size > 0 && code[0] == 0x67;
    if (size < prefix + 1 + sizeof distance || code[prefix] != 0xe8)
        return false;
    memcpy(&distance, code + prefix + 1, sizeof distance);
    call->address = address;
    call->next = address + prefix + 1 + sizeof distance;
    call->callee = call->next + (uint64_t)(int64_t)distance;
    return true;
}

static int collect_calls(struct loop_judge *judge)
{
    judge->has_calls = true;
    for (size_t i = 0; i < judge->flow->number_capacity; i++) {
        const struct feed_function *caller = judge->flow->by_number[i];
        for (uint32_t k = 0; caller && k < caller->walk.instruction_count; k++) {
            struct judged_call call = {.caller = caller};
            if (!decode_call(judge->flow, caller->walk.addresses[k], &call))
                continue;
            struct judged_call *larger = grow_array(judge->calls, &judge->call_capacity,
                                                    judge->call_count + 1, sizeof *larger);
            if (!larger)
                return BT_MEMORY;
            judge->calls = larger;
            larger[judge->call_count++] = call;
        }
    }
    return 0;
}

/* The results of a function that its callers use, as far as their code is known: if none of them
 * calls it directly, or many do, all. */
static int find_results(struct loop_judge *judge, uint32_t function, unsigned depth,
                        value_set *results, struct bt_error *error)
{
    const uint64_t start = functions_get(judge->flow->functions, function)->start;
    unsigned calls = 0;
    value_set used = 0, live;
    /* a caller that is not known may pass on the first result of what it calls */
    *results = live_results() & (depth < CALLERS_DEEP ? ~live_second_results() : ~(value_set)0);
    if (!judge->has_calls && collect_calls(judge) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for verdicts");
    for (size_t i = 0; i < judge->call_count; i++) {
        const struct judged_call call = judge->calls[i];
        struct live_code code = {.walk = &call.caller->walk,
                                 .read = read_code,
                                 .context = judge->flow,
                                 .results = live_results() & ~live_second_results(),
                                 .unassigned = live_second_results()};
        if (call.callee != start || call.caller->number == function)
            continue;
        int result = calls++ < CALLS_MAX && depth > 0
                         ? find_results(judge, call.caller->number, depth - 1, &code.results, error)
                         : 0;
        if (result == 0 && calls <= CALLS_MAX)
            result = live_after(&code, call.address, call.next, &live, error);
        if (result < 0)
            return result;
        used |= calls <= CALLS_MAX ? live : live_results();
    }
    if (calls > 0)
        *results = used & live_results();
    return 0;
}

static int find_live(struct loop_judge *judge, uint32_t loop, value_set *live,
                     struct bt_error *error)
{
    struct live_code code = {.read = read_code, .context = judge->flow};
    const uint32_t number = find_loop(judge, loop, &code.walk);
    *live = ~(value_set)0;
    if (number == LOOPS_NONE || code.walk->is_cut)
        return 0;
    const int result =
        find_results(judge, judge->flow->loops[loop].function, CALLERS_DEEP, &code.results, error);
    return result == 0 ? live_after_loop(&code, number, live, error) : result;
}

/* --- computed jumps ----------------------------------------------------------------------------
 */

/* The jump at the end of a node; 0: it is none that is computed. */
static uint64_t computed_jump(struct feed_flow *flow, const struct code_node *node)
{
    struct value_instruction instruction;
    uint64_t address = node->start, last = 0;
    while (address < node->end && loop_flow_decode(read_code, flow, address, &instruction)) {
        last = address;
        address += instruction.decoded.length;
    }
    return last && instruction.decoded.meta.category == ZYDIS_CATEGORY_UNCOND_BR &&
                   instruction.operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE
               ? last
               : 0;
}

/* Adds the targets of a jump's table to the function's walk. *is_known: it has one, which contains
 * all targets that were reached. 0 or BT_MEMORY. */
static int add_targets(struct loop_judge *judge, struct feed_function *function, uint64_t jump,
                       bool *is_known)
{
    uint64_t *targets = malloc(JUMP_TABLE_MAX * sizeof *targets);
    if (!targets)
        return BT_MEMORY;
    const unsigned count = jump_table_read(&function->walk, code_walk_find(&function->walk, jump),
                                           read_code, judge->flow, targets);
    int result = 0;
    *is_known = count > 0;
    for (unsigned i = 0; i < count; i++)
        *is_known = *is_known && functions_at(judge->flow->functions, targets[i], false,
                                              function->number) == function->number;
    for (size_t i = 0; i < function->jump_count && *is_known; i++) {
        unsigned k = 0;
        while (k < count && targets[k] != function->jumps[i].target)
            k++;
        *is_known = function->jumps[i].jump != jump || k < count;
    }
    for (unsigned i = 0; i < count && *is_known && result == 0; i++)
        result = feed_flow_jump(judge->flow, function, jump, targets[i]);
    free(targets);
    return result;
}

/* Finds where computed jumps of a loop may lead, also those that were not reached. 0 or BT_MEMORY.
 */
static int find_jumps(struct loop_judge *judge, uint32_t loop, struct judged_loop *judged)
{
    struct feed_function *function = judge->flow->by_number[judge->flow->loops[loop].function];
    const struct code_walk *walk;
    const uint32_t number = find_loop(judge, loop, &walk);
    const uint32_t count = number == LOOPS_NONE ? 0 : walk->loops.loops[number].node_count;
    uint64_t *jumps = malloc((count + 1) * sizeof *jumps);
    int result = jumps ? 0 : BT_MEMORY;
    judged->knows_jumps = true;
    for (uint32_t i = 0; i < count && result == 0; i++) /* they remain when the walk changes */
        jumps[i] = computed_jump(
            judge->flow, &walk->nodes[walk->loops.nodes[walk->loops.loops[number].first_node + i]]);
    for (uint32_t i = 0; i < count && result == 0; i++) {
        bool is_known = true;
        if (jumps[i])
            result = add_targets(judge, function, jumps[i], &is_known);
        judged->knows_jumps = judged->knows_jumps && is_known;
    }
    free(jumps);
    return result == 0 ? feed_flow_update(judge->flow, function) : result;
}

/* --- loops -------------------------------------------------------------------------------------
 */

/* Finds the values again if other instructions than the analysis knows access slots, or read them
 * after the loop. */
static int analyse_again(struct loop_judge *judge, uint32_t loop, const bool *within,
                         struct judged_loop *judged)
{
    const struct code_walk *walk;
    struct bt_error error;
    struct slots_seen seen = {0, 0}, before;
    const uint32_t number = find_loop(judge, loop, &walk);
    judged->values.is_unknown = number == LOOPS_NONE;
    if (find_live(judge, loop, &seen.live, &error) < 0)
        return BT_MEMORY;
    do {
        before = seen;
        if (!judged->values.is_unknown &&
            loop_values_find(&judged->values, walk, number, seen.live, seen.exposed, read_code,
                             judge->flow, &error) < 0)
            return BT_MEMORY;
        judged->is_observed = judged->ends_early = false;
        if (!judged->values.is_unknown)
            look_within(judge, loop, within, judged, &seen);
    } while (seen.exposed != before.exposed || seen.live != before.live);
    return 0;
}

static int analyse(struct loop_judge *judge, uint32_t loop, struct judged_loop *judged)
{
    if (find_jumps(judge, loop, judged) < 0)
        return BT_MEMORY;
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
    const struct value_kind stored = loop_values_updates(values, source->address);
    return !judged->is_observed && stored.operation != VALUE_NONE &&
                   value_kind_is_equal(stored, loop_values_loads_for_update(values, sink->address))
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
    const struct value_kind before = kind == DEPEND_WAR
                                         ? loop_values_loads_for_update(values, source->address)
                                         : loop_values_updates(values, source->address);
    return !judged->is_observed && before.operation != VALUE_NONE &&
                   value_kind_is_equal(before, loop_values_updates(values, sink->address))
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

/* An address in words: a line of the loop's function. */
static void describe_address(struct loop_judge *judge, uint32_t loop, uint64_t address, char *text,
                             size_t size)
{
    const struct feed_loop *found = &judge->flow->loops[loop];
    uint32_t head, number;
    if (code_places_add(judge->places, found->head, found->function, &head) < 0 ||
        code_places_add(judge->places, address, found->function, &number) < 0) {
        judge->out_of_memory = true;
        snprintf(text, size, "0x%" PRIx64, address);
        return;
    }
    const struct dependence_place own = code_places_describe(judge->places, head);
    const struct dependence_place place = code_places_describe(judge->places, number);
    depend_report_describe(&place, own.file, text, size);
}

/* A variable in words: a register, or the line that uses a slot of the stack. */
static void name_variable(struct loop_judge *judge, uint32_t loop, const struct loop_values *values,
                          unsigned variable, char *text, size_t size)
{
    if (variable < VALUE_REGISTERS)
        snprintf(text, size, "register %s", register_name(variable));
    else
        describe_address(judge, loop, values->flow.slots[variable - VALUE_REGISTERS].address, text,
                         size);
}

static int add_variable(struct loop_judge *judge, uint32_t loop, const struct loop_values *values,
                        unsigned variable, depend_value_function *add, void *to,
                        struct bt_error *error)
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
    const bool is_slot = variable >= VALUE_REGISTERS;
    char name[REASON_BYTES / 2], reason[REASON_BYTES];
    name_variable(judge, loop, values, variable, name, sizeof name);
    switch (values->kinds[variable]) {
    case LOOP_VALUE_REDUCTION:
        snprintf(reason, sizeof reason, "%s %s %s", name, is_slot ? "computes" : "is",
                 names[values->operations[variable]]);
        return add(to, DEPEND_VALUE_REDUCTION, reason, error);
    case LOOP_VALUE_LAST:
        snprintf(reason, sizeof reason, "last value used: %s assigns it", name);
        return is_slot ? add(to, DEPEND_VALUE_LAST, reason, error) : 0;
    case LOOP_VALUE_SERIAL:
        snprintf(reason, sizeof reason, "%s passes a value on to the next iteration", name);
        return is_slot ? add(to, DEPEND_VALUE_SERIAL, reason, error) : 0;
    default:
        return 0;
    }
}

/* One reason for all registers of a kind. */
static int add_registers(const struct loop_values *values, enum loop_value_kind kind,
                         depend_value_function *add, void *to, struct bt_error *error)
{
    char names[REASON_BYTES] = "", reason[REASON_BYTES + 80];
    unsigned count = 0;
    size_t size = 0;
    for (unsigned i = 0; i < VALUE_REGISTERS && size < sizeof names; i++)
        if (values->kinds[i] == (unsigned)kind)
            size += (size_t)snprintf(names + size, sizeof names - size, "%s%s", count++ ? ", " : "",
                                     register_name(i));
    if (count == 0)
        return 0;
    if (kind == LOOP_VALUE_LAST) {
        snprintf(reason, sizeof reason, "last value used: %s %s",
                 count == 1 ? "register" : "registers", names);
        return add(to, DEPEND_VALUE_LAST, reason, error);
    }
    snprintf(reason, sizeof reason, "%s %s %s on to the next iteration",
             count == 1 ? "register" : "registers", names,
             count == 1 ? "passes a value" : "pass values");
    return add(to, DEPEND_VALUE_SERIAL, reason, error);
}

/* After these instructions nothing is known. */
static int add_obstacles(struct loop_judge *judge, uint32_t loop,
                         const struct value_obstacles *obstacles, bool knows_jumps,
                         depend_value_function *add, void *to, struct bt_error *error)
{
    const struct {
        uint64_t address;
        const char *reason;
    } all[] = {
        {obstacles->call, "calls code that is not all known: it may leave the loop, and change any "
                          "register"},
        {obstacles->modes, "changes or reads the state of the processor: rounding, exceptions, or "
                           "the direction of strings"},
        {knows_jumps ? 0 : obstacles->jump,
         "jumps to an address that it computes: where else it may lead is not "
         "known"},
    };
    int result = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && result == 0; i++) {
        char place[REASON_BYTES / 2], reason[REASON_BYTES];
        if (all[i].address == 0)
            continue;
        describe_address(judge, loop, all[i].address, place, sizeof place);
        snprintf(reason, sizeof reason, "%s %s", place, all[i].reason);
        result = add(to, DEPEND_VALUE_SERIAL, reason, error);
    }
    return result;
}

static int add_system_calls(struct loop_judge *judge, uint32_t loop,
                            const struct value_obstacles *obstacles, depend_value_function *add,
                            void *to, struct bt_error *error)
{
    char place[REASON_BYTES / 2], reason[REASON_BYTES];
    const uint64_t address = obstacles->system_call;
    if (address == 0 && depend_loop(judge->depend, loop).system_calls == 0)
        return 0;
    describe_address(judge, loop, address ? address : judge->flow->loops[loop].head, place,
                     sizeof place);
    snprintf(reason, sizeof reason,
             "system calls: order and data in the kernel are not seen (%s%s)",
             address ? "" : "the loop at ", place);
    return add(to, DEPEND_VALUE_SERIAL, reason, error);
}

/* What is not about one register. */
static int add_others(struct loop_judge *judge, uint32_t loop, const struct judged_loop *judged,
                      depend_value_function *add, void *to, struct bt_error *error)
{
    char head[REASON_BYTES / 2], reason[REASON_BYTES];
    describe_address(judge, loop, judge->flow->loops[loop].head, head, sizeof head);
    if (judged->values.is_unknown) {
        snprintf(reason, sizeof reason,
                 "the loop at %s is too large: the values in its registers are not known", head);
        return add(to, DEPEND_VALUE_SERIAL, reason, error);
    }
    if (!judged->values.ends_early && !judged->ends_early)
        return 0;
    snprintf(reason, sizeof reason,
             "what an iteration loads or computes decides whether the loop at %s ends", head);
    return add(to, DEPEND_VALUE_SERIAL, reason, error);
}

int loop_judge_values(struct loop_judge *judge, uint32_t loop, depend_value_function *add, void *to,
                      struct bt_error *error)
{
    const struct judged_loop *judged = judged_of(judge, loop);
    if (judge->out_of_memory)
        return bt_fail(error, BT_MEMORY, "no memory for verdicts");
    const struct loop_values *values = &judged->values;
    int result = add_system_calls(judge, loop, &values->flow.obstacles, add, to, error);
    if (result == 0)
        result = add_others(judge, loop, judged, add, to, error);
    if (judged->values.is_unknown)
        return result;
    if (result == 0)
        result = add_obstacles(judge, loop, &values->flow.obstacles, judged->knows_jumps, add, to,
                               error);
    if (result == 0)
        result = add_registers(values, LOOP_VALUE_SERIAL, add, to, error);
    if (result == 0)
        result = add_registers(values, LOOP_VALUE_LAST, add, to, error);
    for (unsigned i = 0; i < VALUE_STORED && result == 0; i++)
        result = add_variable(judge, loop, values, i, add, to, error);
    return result;
}
