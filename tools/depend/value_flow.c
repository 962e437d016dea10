#include "tools/depend/value_flow.h"

#include "tools/depend/value_arithmetic.h"
#include "tools/depend/value_x87.h"

static value_set range_of(unsigned first, unsigned count)
{
    return (value_set_of(count) - 1) << first;
}

void value_flow_restart(struct value_flow *flow)
{
    flow->update_count = 0;
    flow->decisions[0] = (struct value_decision){.address = 0};
    flow->decision_count = 1;
    flow->used = flow->read = flow->stale = flow->calls = 0;
    flow->overwritten = flow->assigned = 0;
}

value_set value_flow_close(const struct value_flow *flow, value_set set)
{
    value_set before;
    do {
        before = set;
        for (unsigned i = 0; i < flow->load_count; i++)
            if (set & value_set_of(VALUE_STORED + i))
                set |= flow->loads[i].address_variables;
    } while (set != before);
    return set;
}

void value_flow_decide(struct value_flow *flow, const struct value_flags *flags, value_set decision,
                       value_set chosen)
{
    unsigned i = 1;
    while (i < flow->decision_count && flow->decisions[i].address != flags->address)
        i++;
    if (!flags->is_compared || i == VALUE_DECISIONS)
        i = 0;
    else if (i == flow->decision_count)
        flow->decisions[flow->decision_count++] =
            (struct value_decision){.address = flags->address};
    flow->decisions[i].decided |= decision;
    flow->decisions[i].chosen |= i > 0 ? chosen : 0;
}

value_set value_flow_decided(const struct value_flow *flow)
{
    value_set decided = 0;
    for (unsigned i = 0; i < flow->decision_count; i++)
        decided |= flow->decisions[i].decided & ~flow->decisions[i].chosen;
    return decided;
}

/* --- conditions --------------------------------------------------------------------------------
 */

static enum value_condition condition_of(ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_JL:
    case ZYDIS_MNEMONIC_JLE:
    case ZYDIS_MNEMONIC_CMOVL:
    case ZYDIS_MNEMONIC_CMOVLE:
        return VALUE_CONDITION_LESS;
    case ZYDIS_MNEMONIC_JNL:
    case ZYDIS_MNEMONIC_JNLE:
    case ZYDIS_MNEMONIC_CMOVNL:
    case ZYDIS_MNEMONIC_CMOVNLE:
        return VALUE_CONDITION_GREATER;
    case ZYDIS_MNEMONIC_JB:
    case ZYDIS_MNEMONIC_JBE:
    case ZYDIS_MNEMONIC_CMOVB:
    case ZYDIS_MNEMONIC_CMOVBE:
        return VALUE_CONDITION_BELOW;
    case ZYDIS_MNEMONIC_JNB:
    case ZYDIS_MNEMONIC_JNBE:
    case ZYDIS_MNEMONIC_CMOVNB:
    case ZYDIS_MNEMONIC_CMOVNBE:
        return VALUE_CONDITION_ABOVE;
    case ZYDIS_MNEMONIC_JZ:
        return VALUE_CONDITION_EQUAL;
    case ZYDIS_MNEMONIC_JNZ:
        return VALUE_CONDITION_UNEQUAL;
    default:
        return VALUE_CONDITION_OTHER;
    }
}

/* cmov: one of two values, by the flags. That the old one stays is no use of it. */
static void execute_conditional(struct executing *executing)
{
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    struct value_flow *flow = executing->flow;
    struct value_flags *flags = &executing->state->flags;
    const value_set read = flow->read, unread = executing->state->unread;
    const struct value kept = operand_read(executing, &operands[0]);
    flow->read = read;
    executing->state->unread = unread;
    const struct value moved = operand_read(executing, &operands[1]);
    const value_set decision = operand_flags(executing);
    struct value value;
    flow->read |= decision;
    if (flags->is_compared &&
        value_choose(&value, condition_of(executing->instruction->decoded.mnemonic),
                     &flags->compared, &kept, &moved)) {
        value_flow_decide(flow, flags, decision, value.bases);
    } else {
        value_flow_decide(flow, flags, decision, 0);
        value = value_join(&kept, &moved, decision);
        value.constant = value.is_exact ? value.constant : 0;
        if (value_identify(&kept) == 0) /* what is equal may not be the same */
            value.others |= decision & ~value.bases;
    }
    operand_write(executing, &operands[0], value);
}

static bool is_comparison(const struct executing *executing)
{
    return executing->instruction->decoded.mnemonic == ZYDIS_MNEMONIC_CMP ||
           text_begins(executing->name, "comis") || text_begins(executing->name, "ucomis");
}

static void execute_comparison(struct executing *executing)
{
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    struct value_flags *flags = &executing->state->flags;
    const struct value left = operand_read(executing, &operands[0]);
    const struct value right = operand_read(executing, &operands[1]);
    operand_set_flags(executing, value_all(&left) | value_all(&right));
    flags->compared = (struct value_comparison){
        .left = left,
        .right = right,
        .domain = executing->instruction->decoded.mnemonic == ZYDIS_MNEMONIC_CMP ? VALUE_INTEGER
                                                                                 : VALUE_FLOAT,
        .bits = operands[0].size};
    flags->is_compared = true;
    flags->address = executing->instruction->address;
}

/* --- calls -------------------------------------------------------------------------------------
 */

#define REGISTER(name) (ZYDIS_REGISTER_##name - ZYDIS_REGISTER_RAX)

static value_set general_arguments(void)
{
    return value_set_of(REGISTER(RDI)) | value_set_of(REGISTER(RSI)) | value_set_of(REGISTER(RDX)) |
           value_set_of(REGISTER(RCX)) | value_set_of(REGISTER(R8)) | value_set_of(REGISTER(R9));
}

/* Registers that functions need not preserve: rax, rcx, rdx, rsi, rdi, r8 to r11, and vectors. */
static value_set not_preserved(void)
{
    return (value_set)0xfc7 | range_of(VALUE_VECTORS, VALUE_REGISTERS - VALUE_VECTORS);
}

/* What is known of the function that an instruction calls. */
static struct value_callee find_callee(struct value_flow *flow,
                                       const struct value_instruction *instruction)
{
    const ZydisDecodedOperand *target = &instruction->operands[0];
    struct value_callee callee = {.address = instruction->address + instruction->decoded.length +
                                             target->imm.value.u};
    if (target->type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !flow->arguments)
        return callee;
    for (unsigned i = 0; i < flow->callee_count; i++)
        if (flow->callees[i].address == callee.address)
            return flow->callees[i];
    callee.is_known = flow->arguments(flow->context, &callee);
    if (flow->callee_count < VALUE_CALLEES)
        flow->callees[flow->callee_count++] = callee;
    return callee;
}

/* The variables of the arguments: of what the callee may read; if this is not known, of all
 * argument registers that this iteration has set. */
static value_set pass_arguments(struct executing *executing, const struct value_callee *callee)
{
    struct value_flow *flow = executing->flow;
    struct value_state *state = executing->state;
    const value_set registers =
        callee->is_known ? callee->registers : general_arguments() | range_of(VALUE_VECTORS, 8);
    value_set passed = 0;
    for (unsigned i = 0; i < VALUE_REGISTERS; i++) {
        const struct value own = value_of_variable(i);
        const bool is_set = !value_is_equal(&state->values[i], &own);
        if (!(registers & value_set_of(i)))
            continue;
        if ((callee->registers & value_set_of(i)) || (!callee->is_known && is_set))
            passed |= value_all(&state->values[i]);
        else if (!callee->is_known && i < VALUE_VECTORS)
            flow->stale |= value_set_of(i);
    }
    state->unread &= ~(general_arguments() | range_of(VALUE_VECTORS, 8));
    return passed;
}

static void note_obstacle(uint64_t *address, const struct executing *executing, bool is_one)
{
    if (is_one && *address == 0)
        *address = executing->instruction->address;
}

/* The whole register. */
static void set_register(struct value_state *state, unsigned variable, struct value value)
{
    state->values[variable] = value;
    state->parts[variable] = (struct value_part){.bits = 0};
}

/* The results of a call or system call depend on all arguments. */
static void execute_call(struct executing *executing)
{
    struct value_flow *flow = executing->flow;
    struct value_state *state = executing->state;
    const struct value_callee callee = find_callee(flow, executing->instruction);
    const value_set lost = callee.is_known ? callee.clobbered : not_preserved();
    const value_set passed = pass_arguments(executing, &callee);
    const unsigned number = operand_number_load(flow, executing->instruction->address, passed);
    const struct value result = value_of_set(passed | value_set_of(VALUE_STORED + number));
    flow->used |= passed | flow->control;
    flow->read |= passed;
    flow->calls |= callee.is_pure ? 0 : value_set_of(VALUE_STORED + number);
    note_obstacle(&flow->obstacles.call, executing, !callee.is_known);
    note_obstacle(&flow->obstacles.system_call, executing, callee.has_system_calls);
    note_obstacle(&flow->obstacles.modes, executing, callee.changes_modes);
    for (unsigned i = 0; i < VALUE_REGISTERS; i++)
        if ((lost & value_set_of(i)) && i != REGISTER(RSP))
            set_register(state, i, result);
    state->depth = 0;
    state->flags = (struct value_flags){.set = value_all(&result), .carry = value_all(&result)};
    state->current = 0; /* it may write to memory */
}

/* The result is not known before, as that of a call. */
static void execute_system_call(struct executing *executing)
{
    static const uint8_t arguments[] = {0, 7, 6, 2, 10, 8, 9}; /* rax: the number */
    struct value_flow *flow = executing->flow;
    struct value_state *state = executing->state;
    value_set passed = 0;
    for (unsigned i = 0; i < sizeof arguments; i++)
        passed |= value_all(&state->values[arguments[i]]);
    const unsigned number = operand_number_load(flow, executing->instruction->address, passed);
    const value_set own = value_set_of(VALUE_STORED + number);
    flow->used |= passed | flow->control;
    flow->read |= passed;
    flow->calls |= own;
    note_obstacle(&flow->obstacles.system_call, executing, true);
    set_register(state, REGISTER(RAX), value_of_set(passed | own));
    set_register(state, REGISTER(RCX), value_of_set(0));
    set_register(state, REGISTER(R11), value_of_set(0));
    state->current = 0;
}

/* --- other instructions ------------------------------------------------------------------------
 */

/* The instruction moves between the halves of vector registers, or reads the upper one. */
static bool is_upper(const struct executing *executing)
{
    return text_begins(executing->name, "movh") || text_begins(executing->name, "movlh");
}

/* The destination keeps upper bits, which are not read after a conversion. */
static bool is_conversion(const struct executing *executing, unsigned operand)
{
    return operand == 0 && executing->instruction->decoded.operand_count_visible == 2 &&
           text_begins(executing->name, "cvtsi2s");
}

static value_set read_operands(struct executing *executing)
{
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    value_set all = operand_flags(executing);
    for (unsigned i = 0; i < executing->instruction->decoded.operand_count; i++) {
        ZydisDecodedOperand operand = operands[i];
        const bool is_scan =
            executing->instruction->decoded.mnemonic == ZYDIS_MNEMONIC_BSF ||
            executing->instruction->decoded.mnemonic == ZYDIS_MNEMONIC_BSR; /* of 0: none */
        const bool is_kept = (operand.actions & ZYDIS_OPERAND_ACTION_CONDWRITE) || is_scan ||
                             (is_upper(executing) && i == 0 && !operand_is_memory(&operand));
        if ((!operand_is_read(&operand) && !is_kept) || is_conversion(executing, i))
            continue;
        if (is_upper(executing) && !operand_is_memory(&operand))
            operand.size = 128;
        const struct value value = operand_read(executing, &operand);
        all |= value_all(&value);
    }
    if (executing->instruction->decoded.mnemonic == ZYDIS_MNEMONIC_XLAT) {
        /* its index is no operand */
        const ZydisDecodedOperand index = {
            .type = ZYDIS_OPERAND_TYPE_REGISTER, .size = 8, .reg.value = ZYDIS_REGISTER_AL};
        const struct value value = operand_read(executing, &index);
        executing->flow->used |= value_all(&value);
        all |= value_all(&value);
    }
    return all;
}

/* All that is written depends on all that is read. */
static void execute_other(struct executing *executing)
{
    const ZydisDecodedInstruction *decoded = &executing->instruction->decoded;
    const value_set all = read_operands(executing);
    executing->flow->read |= all;
    operand_set_flags(executing, all);
    for (unsigned i = 0; i < decoded->operand_count; i++) {
        ZydisDecodedOperand operand = executing->instruction->operands[i];
        if (is_upper(executing) && !operand_is_memory(&operand))
            operand.size = 128;
        if (operand_is_written(&operand))
            operand_write(executing, &operand, value_of_set(all));
    }
}

/* movs, stos and so on: pointers step by a constant, with rep by the count. */
static void execute_string(struct executing *executing)
{
    const ZydisDecodedInstruction *decoded = &executing->instruction->decoded;
    struct value_state *state = executing->state;
    const bool is_repeated = (decoded->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
                                                     ZYDIS_ATTRIB_HAS_REPNE)) != 0;
    const struct value source = state->values[REGISTER(RSI)], target = state->values[REGISTER(RDI)];
    const struct value count = value_of_set(value_all(&state->values[REGISTER(RCX)]));
    const struct value_kind add = {.operation = VALUE_ADD, .bits = 64};
    execute_other(executing);
    for (unsigned i = 0; i < decoded->operand_count; i++) {
        const ZydisDecodedOperand *operand = &executing->instruction->operands[i];
        const unsigned variable = operand->type == ZYDIS_OPERAND_TYPE_REGISTER
                                      ? value_variable(operand->reg.value)
                                      : VALUE_VARIABLE_NONE;
        if (variable != REGISTER(RSI) && variable != REGISTER(RDI))
            continue;
        const struct value *before = variable == REGISTER(RSI) ? &source : &target;
        operand_write(executing, operand,
                      is_repeated ? value_combine(add, before, &count)
                                  : value_add_constant(*before, 1, 64));
    }
}

bool value_changes_modes(const struct value_instruction *instruction)
{
    static const uint16_t mnemonics[] = {
        ZYDIS_MNEMONIC_LDMXCSR,  ZYDIS_MNEMONIC_VLDMXCSR,  ZYDIS_MNEMONIC_STMXCSR,
        ZYDIS_MNEMONIC_VSTMXCSR, ZYDIS_MNEMONIC_FLDCW,     ZYDIS_MNEMONIC_FLDENV,
        ZYDIS_MNEMONIC_FNSTENV,  ZYDIS_MNEMONIC_FNSTSW,    ZYDIS_MNEMONIC_FNCLEX,
        ZYDIS_MNEMONIC_FNINIT,   ZYDIS_MNEMONIC_FNSAVE,    ZYDIS_MNEMONIC_FRSTOR,
        ZYDIS_MNEMONIC_FXRSTOR,  ZYDIS_MNEMONIC_FXRSTOR64, ZYDIS_MNEMONIC_XRSTOR,
        ZYDIS_MNEMONIC_XRSTOR64, ZYDIS_MNEMONIC_STD,       ZYDIS_MNEMONIC_POPF,
        ZYDIS_MNEMONIC_POPFQ,    ZYDIS_MNEMONIC_WRFSBASE,  ZYDIS_MNEMONIC_WRGSBASE,
        ZYDIS_MNEMONIC_WRPKRU};
    for (unsigned i = 0; i < sizeof mnemonics / sizeof mnemonics[0]; i++)
        if (instruction->decoded.mnemonic == mnemonics[i])
            return true;
    return false;
}

/* The target of an indirect jump decides, too. */
static void execute_jump(struct executing *executing)
{
    const struct value_instruction *instruction = executing->instruction;
    struct value_state *state = executing->state;
    const struct value counter = state->values[REGISTER(RCX)];
    state->condition = (uint8_t)condition_of(instruction->decoded.mnemonic);
    note_obstacle(&executing->flow->obstacles.jump, executing,
                  instruction->operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE);
    state->decision = read_operands(executing);
    executing->flow->read |= state->decision;
    value_flow_decide(executing->flow, &state->flags, state->decision, 0);
    for (unsigned i = 0; i < instruction->decoded.operand_count; i++) /* loop counts in rcx */
        if (operand_is_written(&instruction->operands[i]))
            operand_write(executing, &instruction->operands[i],
                          value_add_constant(counter, UINT64_MAX, 64));
}

void value_flow_execute(struct value_flow *flow, struct value_state *state,
                        const struct value_instruction *instruction)
{
    const char *name = ZydisMnemonicGetString(instruction->decoded.mnemonic);
    struct executing executing = {
        .flow = flow, .state = state, .instruction = instruction, .name = name + (*name == 'v')};
    note_obstacle(&flow->obstacles.modes, &executing, value_changes_modes(instruction));
    switch (instruction->decoded.meta.category) {
    case ZYDIS_CATEGORY_CALL:
        execute_call(&executing);
        break;
    case ZYDIS_CATEGORY_SYSCALL:
        execute_system_call(&executing);
        break;
    case ZYDIS_CATEGORY_CMOV:
        execute_conditional(&executing);
        break;
    case ZYDIS_CATEGORY_STRINGOP:
        execute_string(&executing);
        break;
    case ZYDIS_CATEGORY_X87_ALU:
    case ZYDIS_CATEGORY_FCMOV:
        value_x87_execute(&executing);
        break;
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
        execute_jump(&executing);
        break;
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_RET:
        break;
    default:
        if (is_comparison(&executing))
            execute_comparison(&executing);
        else if (!value_arithmetic_execute(&executing))
            execute_other(&executing);
    }
}
