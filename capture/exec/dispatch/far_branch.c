#include "capture/exec/dispatch/far_branch.h"

#include "capture/exec/dispatch/trap.h"

#include <Zydis/Zydis.h>
#include <string.h>

#define CODE_SEGMENT     0x33u
#define STACK_SEGMENT    0x2bu
#define RING             3u
#define RETURN_IMMEDIATE 0xcau

/* The flags that iret changes in user mode: status flags, trap, direction, nested task, alignment
 * check and identification. */
#define POPPED 0x244dd5u

bool far_branch_is(const struct decode_instruction *instruction)
{
    if (instruction->kind != DECODE_EMULATED)
        return false;
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_RET:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_JMP:
    case ZYDIS_MNEMONIC_CALL:
        return true;
    default:
        return false;
    }
}

static uint64_t part(const uint8_t *read, unsigned number, unsigned size)
{
    uint64_t value = 0;
    memcpy(&value, read + number * size, size);
    return value;
}

static enum far_branch_result fault(struct far_branch *branch, uint64_t error)
{
    branch->error = error;
    return FAR_BRANCH_FAULT;
}

static enum far_branch_result go(struct far_branch *branch, uint64_t target)
{
    if (!decode_is_canonical(target))
        return fault(branch, 0);
    branch->rip = target;
    return FAR_BRANCH_DONE;
}

static enum far_branch_result do_return(const struct decode_instruction *instruction,
                                        const uint8_t *read, struct far_branch *branch)
{
    unsigned size = instruction->accesses[0].size / 2;
    const uint8_t *end = instruction->bytes + instruction->size;
    uint16_t more = 0;
    if ((uint16_t)part(read, 1, size) != CODE_SEGMENT)
        return FAR_BRANCH_REFUSED;
    if (instruction->size > 3 && end[-3] == RETURN_IMMEDIATE)
        memcpy(&more, end - 2, sizeof more);
    branch->rsp += 2 * size + more;
    return go(branch, part(read, 0, size));
}

static enum far_branch_result do_interrupt_return(const struct decode_instruction *instruction,
                                                  const uint8_t *read, struct far_branch *branch)
{
    unsigned size = instruction->accesses[0].size / 5;
    uint64_t changed = size == 2 ? POPPED & 0xffff : POPPED;
    uint16_t stack = (uint16_t)part(read, 4, size);
    if (branch->flags & TRAP_FLAG_NESTED_TASK)
        return fault(branch, 0);
    if ((uint16_t)part(read, 1, size) != CODE_SEGMENT)
        return FAR_BRANCH_REFUSED;
    if (stack != STACK_SEGMENT)
        return stack <= RING || (stack & RING) != RING ? fault(branch, TRAP_SELECTOR(stack))
                                                       : FAR_BRANCH_REFUSED;
    branch->flags = (branch->flags & ~changed) | (part(read, 2, size) & changed);
    branch->rsp = part(read, 3, size);
    return go(branch, part(read, 0, size));
}

/* AMD processors lack the 64-bit form (AMD64 manual, volume 3, JMP far). */
static enum far_branch_result do_jump(const struct decode_instruction *instruction,
                                      const uint8_t *read, struct far_branch *branch)
{
    unsigned size = instruction->accesses[0].size - 2u;
    uint64_t next = instruction->address + instruction->size;
    const uint16_t own = CODE_SEGMENT;
    uint16_t selector;
    memcpy(&selector, read + size, sizeof selector);
    if ((selector | RING) != CODE_SEGMENT || (size == 8 && !__builtin_cpu_is("intel")))
        return FAR_BRANCH_REFUSED;
    if (instruction->mnemonic == ZYDIS_MNEMONIC_CALL) {
        memcpy(branch->pushed, &next, size);
        memset(branch->pushed + size, 0, size);
        memcpy(branch->pushed + size, &own, sizeof own);
        branch->pushed_bytes = 2 * size;
        branch->rsp -= 2 * size;
    }
    return go(branch, part(read, 0, size));
}

enum far_branch_result far_branch_do(const struct decode_instruction *instruction,
                                     const uint8_t *read, struct far_branch *branch)
{
    branch->pushed_bytes = 0;
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_RET:
        return do_return(instruction, read, branch);
    case ZYDIS_MNEMONIC_JMP:
    case ZYDIS_MNEMONIC_CALL:
        return do_jump(instruction, read, branch);
    default:
        return do_interrupt_return(instruction, read, branch);
    }
}
