#include "tools/depend/callee_registers.h"

#include "tools/depend/value_flow_internal.h"

#include <string.h>

#define INSTRUCTIONS_MAX 300u /* of a function and what it calls */
#define DEPTH_MAX        3u   /* of calls that are followed */

/* rdi, rsi, rdx, rcx, r8, r9 */
#define GENERAL ((value_set)(1u << 7 | 1u << 6 | 1u << 2 | 1u << 1 | 1u << 8 | 1u << 9))
#define VECTOR  ((value_set)0xff << VALUE_GENERAL)
/* also rax, r10, r11, and all vector registers */
#define CLOBBERED                                                                                  \
    (GENERAL | (value_set)(1u << 0 | 1u << 10 | 1u << 11) | (value_set)0xffffffff << VALUE_GENERAL)

struct scan {
    callee_read *read;
    void *context;
    struct {
        uint64_t address;
        value_set written; /* on all paths that lead to it */
    } seen[INSTRUCTIONS_MAX];
    unsigned count;
    value_set arguments, clobbered;
};

bool callee_decode(struct value_instruction *instruction, uint64_t address, callee_read *read,
                   void *context)
{
    ZydisDecoder decoder;
    const uint8_t *code;
    const size_t size = read(context, address, &code);
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    instruction->address = address;
    return size > 0 && ZYAN_SUCCESS(ZydisDecoderDecodeFull(
                           &decoder, code, size, &instruction->decoded, instruction->operands));
}

uint64_t callee_of(const struct value_instruction *call, callee_read *read, void *context)
{
    const ZydisDecodedOperand *operand = &call->operands[0];
    const uint64_t next = call->address + call->decoded.length;
    const uint8_t *bytes;
    uint64_t target = 0;
    if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return next + operand->imm.value.u;
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.base == ZYDIS_REGISTER_RIP &&
        read(context, next + (uint64_t)operand->mem.disp.value, &bytes) >= sizeof target)
        memcpy(&target, bytes, sizeof target);
    return target;
}

static value_set variable_set(ZydisRegister name)
{
    const unsigned variable = value_variable_of(name);
    return variable < VALUE_REGISTERS ? value_set_of(variable) : 0;
}

/* An exclusive or of a register with itself: it reads nothing. */
static bool is_zero(const struct value_instruction *instruction)
{
    const ZydisDecodedOperand *last =
        &instruction->operands[instruction->decoded.operand_count_visible > 2 ? 2 : 1];
    return strstr(ZydisMnemonicGetString(instruction->decoded.mnemonic), "xor") != NULL &&
           instruction->decoded.operand_count_visible >= 2 &&
           last->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           last[-1].type == ZYDIS_OPERAND_TYPE_REGISTER && last->reg.value == last[-1].reg.value;
}

/* Adds what an instruction reads and has not been written, and what it writes whole. */
static void scan_operands(struct scan *scan, const struct value_instruction *instruction,
                          value_set *written)
{
    value_set reads = 0, writes = 0;
    for (unsigned i = 0; i < instruction->decoded.operand_count; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
            reads |= variable_set(operand->mem.base) | variable_set(operand->mem.index);
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0 && !is_zero(instruction))
            reads |= variable_set(operand->reg.value);
        if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0)
            scan->clobbered |= variable_set(operand->reg.value);
        if ((operand->actions & ZYDIS_OPERAND_ACTION_WRITE) != 0 && operand->size >= 32)
            writes |= variable_set(operand->reg.value);
    }
    scan->arguments |= reads & (GENERAL | VECTOR) & ~*written;
    *written |= writes;
}

/* The path leads to code that is not known. */
static void give_up(struct scan *scan, value_set written)
{
    scan->arguments |= GENERAL & ~written;
    scan->clobbered = CLOBBERED;
}

static void scan_path(struct scan *scan, uint64_t address, value_set written, unsigned depth);

/* A call: its arguments may be passed on; it preserves none of these registers. */
static void scan_call(struct scan *scan, const struct value_instruction *call, value_set *written,
                      unsigned depth)
{
    const uint64_t target = callee_of(call, scan->read, scan->context);
    if (target && depth < DEPTH_MAX)
        scan_path(scan, target, *written, depth + 1);
    else
        give_up(scan, *written);
    *written |= GENERAL | VECTOR;
}

/* Whether a path continues at the instruction with this set. */
static bool enter(struct scan *scan, uint64_t address, value_set *written)
{
    for (unsigned i = 0; i < scan->count; i++) {
        if (scan->seen[i].address != address)
            continue;
        if ((scan->seen[i].written & ~*written) == 0)
            return false;
        *written = scan->seen[i].written &= *written;
        return true;
    }
    if (scan->count == INSTRUCTIONS_MAX) {
        give_up(scan, *written);
        return false;
    }
    scan->seen[scan->count].address = address;
    scan->seen[scan->count++].written = *written;
    return true;
}

static void scan_path(struct scan *scan, uint64_t address, value_set written, unsigned depth)
{
    struct value_instruction instruction;
    while (address && enter(scan, address, &written)) {
        if (!callee_decode(&instruction, address, scan->read, scan->context)) {
            give_up(scan, written);
            return;
        }
        address += instruction.decoded.length;
        scan_operands(scan, &instruction, &written);
        switch (instruction.decoded.meta.category) {
        case ZYDIS_CATEGORY_CALL:
            scan_call(scan, &instruction, &written, depth);
            break;
        case ZYDIS_CATEGORY_COND_BR:
            scan_path(scan, callee_of(&instruction, scan->read, scan->context), written, depth);
            break;
        case ZYDIS_CATEGORY_UNCOND_BR:
            address = callee_of(&instruction, scan->read, scan->context);
            if (!address)
                give_up(scan, written);
            break;
        case ZYDIS_CATEGORY_RET:
            return;
        case ZYDIS_CATEGORY_SYSCALL:
            scan->clobbered |= CLOBBERED & (value_set)(1u << 0 | 1u << 1 | 1u << 11);
            break;
        default:
            break;
        }
    }
}

struct callee_registers callee_registers(uint64_t function, callee_read *read, void *context)
{
    struct scan scan = {.read = read, .context = context, .count = 0};
    if (function)
        scan_path(&scan, function, 0, 0);
    else
        give_up(&scan, 0);
    return (struct callee_registers){.arguments = scan.arguments,
                                     .clobbered = scan.clobbered & CLOBBERED};
}
