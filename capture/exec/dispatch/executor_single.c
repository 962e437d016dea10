/* The program's trap flag: a signal after each instruction that begins with the flag set. Such an
 * instruction is a separate block, executed without the flag. Only popf sets the processor's flag;
 * exec_signal() handles the trap that follows. */
#include "capture/exec/dispatch/executor_state.h"
#include "capture/exec/dispatch/trap.h"

#include <Zydis/Zydis.h>
#include <string.h>

#define FLAG_ZERO 0x40u

/* A string instruction with a repeat prefix executes one repetition at a time, as in the processor.
 */
static void cut_repetitions(struct exec_thread *thread, struct executor_single *single,
                            const struct decode_instruction *instruction)
{
    uint64_t *count = &thread->registers[DECODE_RCX];
    uint64_t left = instruction->accesses[0].narrow ? (uint32_t)*count : *count;
    if (!instruction->repeated || left < 2)
        return;
    bool compares = instruction->flags_written & FLAG_ZERO;
    bool different = memchr(instruction->bytes, 0xf2, instruction->size - 1u);
    single->while_equal = compares && !different;
    single->while_different = compares && different;
    single->repetitions = left - 1;
    *count = 1;
}

static bool is_repeated(const struct exec_thread *thread, const struct executor_single *single)
{
    bool equal = thread->flags & FLAG_ZERO;
    return single->repetitions && !(single->while_equal && !equal) &&
           !(single->while_different && equal);
}

void executor_single_begin(struct executor *executor, struct executor_single *single)
{
    struct exec_thread *thread = executor->thread;
    struct decode_instruction instruction;
    *single = (struct executor_single){.on = thread->flags & TRAP_FLAG, .address = thread->rip};
    if (!single->on)
        return;
    size_t readable = executor_readable(executor, thread->rip);
    decode(&instruction, (const uint8_t *)(uintptr_t)thread->rip, readable, thread->rip);
    single->pushes = instruction.mnemonic == ZYDIS_MNEMONIC_PUSHF ||
                     instruction.mnemonic == ZYDIS_MNEMONIC_PUSHFQ;
    single->pops =
        instruction.mnemonic == ZYDIS_MNEMONIC_POPF || instruction.mnemonic == ZYDIS_MNEMONIC_POPFQ;
    cut_repetitions(thread, single, &instruction);
    thread->flags &= ~(uint64_t)TRAP_FLAG;
}

/* Sets the flag in what pushf has written. */
static void set_pushed(const struct exec_thread *thread)
{
    uint8_t *pushed = (uint8_t *)(uintptr_t)thread->registers[DECODE_RSP];
    pushed[1] |= TRAP_FLAG >> 8;
}

void executor_single_end(struct executor *executor, struct executor_single *single,
                         const struct exit *exit)
{
    struct exec_thread *thread = executor->thread;
    bool done = !executor->faulted && exit && exit->kind <= EXIT_EMULATED;
    if (executor->traps || (single->on && !(single->pops && done)))
        thread->flags |= TRAP_FLAG;
    executor->traps = false;
    thread->registers[DECODE_RCX] += single->repetitions;
    if (done && is_repeated(thread, single))
        single->back = single->address;
    if (single->on && single->pushes && done)
        set_pushed(thread);
    thread->trap_due = single->on && done && exit->kind != EXIT_SYSTEM_CALL;
}
