#include "tools/depend/live_registers.h"

#include "tools/depend/callee_arguments.h"

#include <stdlib.h>
#include <string.h>

#define RAX value_set_of(ZYDIS_REGISTER_RAX - ZYDIS_REGISTER_RAX)
#define RDX value_set_of(ZYDIS_REGISTER_RDX - ZYDIS_REGISTER_RAX)
#define RSP value_set_of(ZYDIS_REGISTER_RSP - ZYDIS_REGISTER_RAX)

/* What code does with registers. */
struct usage {
    value_set used; /* read before they are written */
    value_set written;
};

#define CALLEES_MAX 64u

/* The registers of a function's nodes. */
struct liveness {
    const struct live_code *code;
    struct usage *usage;
    value_set *live; /* at the begin of each node */
    struct value_callee callees[CALLEES_MAX];
    unsigned callee_count;
};

static value_set registers(void)
{
    return value_set_of(VALUE_FLAGS) - 1; /* flags do not live that long */
}

value_set live_results(void)
{
    return RAX | RDX | value_set_of(VALUE_VECTORS) | value_set_of(VALUE_VECTORS + 1) |
           value_set_of(VALUE_X87);
}

value_set live_second_results(void)
{
    return RDX | value_set_of(VALUE_VECTORS + 1);
}

/* rbx, rsp, rbp, r12 to r15: the caller finds its own values there. */
static value_set preserved(void)
{
    return (value_set)0xf038;
}

static value_set arguments(void)
{
    return (value_set)0x3c6 | (((value_set)0xff) << VALUE_VECTORS);
}

static value_set variable_of(ZydisRegister name)
{
    const unsigned variable = value_variable(name);
    return variable < VALUE_FLAGS ? value_set_of(variable) : 0;
}

/* The operand is written as a whole. */
static bool defines(const ZydisDecodedOperand *operand)
{
    const unsigned variable = operand->type == ZYDIS_OPERAND_TYPE_REGISTER
                                  ? value_variable(operand->reg.value)
                                  : VALUE_VARIABLE_NONE;
    return variable < VALUE_X87 && (operand->actions & ZYDIS_OPERAND_ACTION_WRITE) &&
           operand->size >= (variable < VALUE_VECTORS ? 32
                             : variable < VALUE_MASKS ? 128
                                                      : 64);
}

/* xor and sub of a register with itself only seem to read it. */
static bool is_idiom(const struct value_instruction *instruction)
{
    const ZydisDecodedOperand *operands = instruction->operands;
    const unsigned count = instruction->decoded.operand_count_visible;
    const char *name = ZydisMnemonicGetString(instruction->decoded.mnemonic);
    return count >= 2 && operands[count - 1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operands[count - 2].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operands[count - 1].reg.value == operands[count - 2].reg.value &&
           (strstr(name, "xor") || strcmp(name, "sub") == 0);
}

static struct value_callee find_callee(struct liveness *liveness,
                                       const struct value_instruction *instruction)
{
    const ZydisDecodedOperand *target = &instruction->operands[0];
    struct value_callee callee = {.address = instruction->address + instruction->decoded.length +
                                             target->imm.value.u};
    if (target->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return callee;
    for (unsigned i = 0; i < liveness->callee_count; i++)
        if (liveness->callees[i].address == callee.address)
            return liveness->callees[i];
    if (liveness->callee_count == CALLEES_MAX)
        return callee;
    callee_arguments_find(liveness->code->read, liveness->code->context, &callee);
    return liveness->callees[liveness->callee_count++] = callee;
}

/* The call's target reads its arguments, and may leave anything in registers. */
static struct usage use_call(struct liveness *liveness, const struct value_instruction *instruction,
                             bool has_vectors)
{
    const struct value_callee callee = find_callee(liveness, instruction);
    const value_set vectors = has_vectors ? 0 : ~(value_set)0 << VALUE_VECTORS;
    if (!callee.is_known)
        return (struct usage){.used = arguments() & ~vectors & ~liveness->code->unassigned,
                              .written = ~preserved()};
    return (struct usage){.used = callee.registers & (arguments() | preserved()),
                          .written = callee.clobbered};
}

/* The instruction sets a register to 0. */
static bool is_zero(const struct value_instruction *instruction)
{
    const ZydisDecodedOperand *from = &instruction->operands[1];
    return instruction->decoded.mnemonic == ZYDIS_MNEMONIC_XOR
               ? is_idiom(instruction)
               : instruction->decoded.mnemonic == ZYDIS_MNEMONIC_MOV &&
                     from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && from->imm.value.u == 0;
}

/* has_vectors: a function with any number of arguments may have some in vector registers; eax tells
 * how many. */
static struct usage use_instruction(struct liveness *liveness,
                                    const struct value_instruction *instruction, bool has_vectors)
{
    struct usage usage = {0, 0};
    if (instruction->decoded.mnemonic == ZYDIS_MNEMONIC_XLAT)
        usage.used = RAX; /* its index is no operand */
    for (unsigned i = 0; i < instruction->decoded.operand_count; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
            usage.used |= variable_of(operand->mem.base) | variable_of(operand->mem.index);
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        if (defines(operand) && instruction->decoded.mnemonic != ZYDIS_MNEMONIC_BSF &&
            instruction->decoded.mnemonic != ZYDIS_MNEMONIC_BSR)
            usage.written |= variable_of(operand->reg.value);
        if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) && !is_idiom(instruction))
            usage.used |= variable_of(operand->reg.value);
    }
    if (instruction->decoded.meta.category == ZYDIS_CATEGORY_CALL) {
        const struct usage call = use_call(liveness, instruction, has_vectors);
        usage.used |= call.used;
        usage.written |= call.written;
    }
    return usage;
}

static struct usage use_code(struct liveness *liveness, uint64_t address, uint64_t end)
{
    struct value_instruction instruction;
    struct usage all = {0, 0};
    bool has_vectors = true;
    while (address < end &&
           loop_flow_decode(liveness->code->read, liveness->code->context, address, &instruction)) {
        const struct usage usage = use_instruction(liveness, &instruction, has_vectors);
        if (usage.written & RAX)
            has_vectors = !is_zero(&instruction);
        all.used |= usage.used & ~all.written;
        all.written |= usage.written;
        address += instruction.decoded.length;
    }
    return all;
}

/* What lives where a path leaves the function. */
static value_set live_at_exit(const struct liveness *liveness, const struct code_node *node)
{
    struct value_instruction instruction;
    uint64_t address = node->start;
    while (loop_flow_decode(liveness->code->read, liveness->code->context, address, &instruction) &&
           address + instruction.decoded.length < node->end)
        address += instruction.decoded.length;
    if (instruction.decoded.meta.category == ZYDIS_CATEGORY_RET)
        return preserved() | liveness->code->results;
    return registers(); /* another function's code, perhaps this one's */
}

static value_set live_at_end(const struct liveness *liveness, uint32_t node)
{
    const struct code_walk *walk = liveness->code->walk;
    value_set live = walk->nodes[node].leaves ? live_at_exit(liveness, &walk->nodes[node]) : 0;
    for (uint32_t i = walk->graph.first_successor[node]; i < walk->graph.first_successor[node + 1];
         i++)
        live |= liveness->live[walk->graph.successors[i]];
    return live;
}

static void liveness_clear(struct liveness *liveness)
{
    free(liveness->usage);
    free(liveness->live);
    free(liveness);
}

/* NULL: no memory. The caller clears it. */
static struct liveness *find_liveness(const struct live_code *code, struct bt_error *error)
{
    const struct code_walk *walk = code->walk;
    struct liveness *liveness = calloc(1, sizeof *liveness);
    bool has_changed = liveness != NULL;
    if (liveness) {
        liveness->code = code;
        liveness->usage = calloc((size_t)walk->graph.nodes + 1, sizeof *liveness->usage);
        liveness->live = calloc((size_t)walk->graph.nodes + 1, sizeof *liveness->live);
    }
    if (!liveness || !liveness->usage || !liveness->live) {
        if (liveness)
            liveness_clear(liveness);
        bt_fail(error, BT_MEMORY, "no memory for the registers of a function");
        return NULL;
    }
    for (uint32_t i = 1; i < walk->graph.nodes; i++)
        liveness->usage[i] = use_code(liveness, walk->nodes[i].start, walk->nodes[i].end);
    while (has_changed) {
        has_changed = false;
        for (uint32_t i = walk->graph.nodes; i-- > 1;) {
            const struct usage *usage = &liveness->usage[i];
            const value_set live = usage->used | (live_at_end(liveness, i) & ~usage->written);
            has_changed |= live != liveness->live[i];
            liveness->live[i] = live;
        }
    }
    return liveness;
}

/* Whether a node is in a loop. */
static bool is_member(const struct code_walk *walk, const struct loop *loop, uint32_t node)
{
    for (uint32_t i = 0; i < loop->node_count; i++)
        if (walk->loops.nodes[loop->first_node + i] == node)
            return true;
    return false;
}

int live_after_loop(const struct live_code *code, uint32_t loop, value_set *live,
                    struct bt_error *error)
{
    const struct code_walk *walk = code->walk;
    const struct loop *found = &walk->loops.loops[loop];
    struct liveness *liveness = find_liveness(code, error);
    *live = 0;
    if (!liveness)
        return BT_MEMORY;
    for (uint32_t i = 0; i < found->node_count; i++) {
        const uint32_t node = walk->loops.nodes[found->first_node + i];
        if (walk->nodes[node].leaves)
            *live |= live_at_exit(liveness, &walk->nodes[node]);
        for (uint32_t k = walk->graph.first_successor[node];
             k < walk->graph.first_successor[node + 1]; k++)
            if (!is_member(walk, found, walk->graph.successors[k]))
                *live |= liveness->live[walk->graph.successors[k]];
    }
    *live &= ~RSP;
    liveness_clear(liveness);
    return 0;
}

int live_after(const struct live_code *code, uint64_t address, uint64_t next, value_set *live,
               struct bt_error *error)
{
    const uint32_t node = code_walk_find(code->walk, address);
    *live = registers();
    if (node == DIGRAPH_NONE)
        return 0;
    struct liveness *liveness = find_liveness(code, error);
    if (!liveness)
        return BT_MEMORY;
    const struct usage usage = use_code(liveness, next, code->walk->nodes[node].end);
    *live = usage.used | (live_at_end(liveness, node) & ~usage.written);
    liveness_clear(liveness);
    return 0;
}
