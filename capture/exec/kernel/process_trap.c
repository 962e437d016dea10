#define _GNU_SOURCE /* si_code's values */
/* Instructions that are never executed: the signals that they raise. */
#include "capture/exec/dispatch/far_branch.h"
#include "capture/exec/dispatch/privileged.h"
#include "capture/exec/dispatch/trap.h"
#include "capture/exec/kernel/process_thread.h"
#include "capture/exec/memory/program_memory.h"
#include "capture/exec/translate/decode.h"
#include "capture/exec/translate/emit.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define SYSTEM_CALLS 0x80u   /* interrupt number of 32-bit system calls */
#define CODE_SEGMENT 0x1800u /* in access rights */

/* The instruction has been replaced in the meantime: execute the new one. */
static void set_nothing(struct executor_stop *stop)
{
    *stop = (struct executor_stop){.reason = EXECUTOR_INTERRUPTED};
}

static size_t decode_here(struct process *process, struct decode_instruction *instruction)
{
    uint64_t rip = process->thread->rip;
    size_t bytes = process_readable(process, rip);
    decode(instruction, (const uint8_t *)(uintptr_t)rip, bytes, rip);
    return bytes;
}

/* --- traps -------------------------------------------------------------------------------------
 */

static void set_illegal(const struct process *process, struct executor_stop *stop)
{
    *stop = (struct executor_stop){.reason = EXECUTOR_FAULT,
                                   .signal = SIGILL,
                                   .code = ILL_ILLOPN,
                                   .fault_address = process->thread->rip,
                                   .trap = TRAP_INVALID_OPCODE};
}

/* Bytes that are not an instruction: too long, incomplete, or undefined. */
static void set_undecodable(const struct process *process, struct executor_stop *stop,
                            size_t readable)
{
    uint64_t rip = process->thread->rip;
    ZydisDecoder decoder;
    ZydisDecodedInstruction instruction;
    size_t size = readable < DECODE_BYTES_MAX ? readable : DECODE_BYTES_MAX;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZyanStatus status = ZydisDecoderDecodeInstruction(&decoder, NULL, (const void *)(uintptr_t)rip,
                                                      size, &instruction);
    if (status == ZYDIS_STATUS_INSTRUCTION_TOO_LONG ||
        (status == ZYDIS_STATUS_NO_MORE_DATA && size == DECODE_BYTES_MAX))
        *stop = trap_protection(0);
    else if (status == ZYDIS_STATUS_NO_MORE_DATA)
        *stop = trap_page_fault(rip + readable, TRAP_USER_FETCH);
    else
        set_illegal(process, stop);
}

/* Raises a signal after the instruction. */
static void set_trap(struct process *process, struct executor_stop *stop,
                     const struct decode_instruction *instruction, int number, uint64_t trap)
{
    process->thread->rip += instruction->size;
    *stop = (struct executor_stop){
        .reason = EXECUTOR_FAULT, .signal = number, .code = SI_KERNEL, .trap = trap};
}

void process_trap(struct process *process, struct executor_stop *stop)
{
    struct decode_instruction instruction;
    size_t readable = decode_here(process, &instruction);
    if (process->traps_clock && decode_reads_clock(&instruction)) {
        *stop = trap_protection(0);
        return;
    }
    if (instruction.kind != DECODE_TRAP) {
        set_nothing(stop);
        return;
    }
    switch (instruction.mnemonic) {
    case 0:
        set_undecodable(process, stop, readable);
        break;
    case ZYDIS_MNEMONIC_INT3:
        set_trap(process, stop, &instruction, SIGTRAP, TRAP_BREAKPOINT);
        break;
    case ZYDIS_MNEMONIC_INT1:
        set_trap(process, stop, &instruction, SIGTRAP, TRAP_DEBUG);
        stop->code = TRAP_BRKPT;
        stop->fault_address = process->thread->rip;
        break;
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_UIRET:
        set_illegal(process, stop);
        break;
    default:
        if (privileged_is_invalid(&instruction))
            set_illegal(process, stop);
        else
            *stop = trap_protection(0);
        break;
    }
}

/* The kernel's state is of a thread. It is of the process here, and may not change while there are
 * other threads, or a child in its memory. */
static int64_t trap_set_clock(struct process *process, uint64_t how)
{
    const bool traps = how == PR_TSC_SIGSEGV;
    if (how != PR_TSC_SIGSEGV && how != PR_TSC_ENABLE)
        return -EINVAL;
    if (traps == process->traps_clock)
        return 0;
    if (process->shares || !process_thread_is_alone(process))
        return -EINVAL;
    process->traps_clock = traps;
    executor_trap_clock(process->executor, traps);
    return 0;
}

bool process_clock_call(struct process *process, struct system_call *call)
{
    const int state = process->traps_clock ? PR_TSC_SIGSEGV : PR_TSC_ENABLE;
    if (call->number != SYS_prctl)
        return false;
    switch ((uint32_t)call->arguments[0]) {
    case PR_SET_TSC:
        call->result = trap_set_clock(process, (uint32_t)call->arguments[1]);
        return true;
    case PR_GET_TSC:
        call->result = program_write(process->space, call->arguments[1], &state, sizeof state);
        return true;
    default:
        return false;
    }
}

/* --- instructions that cannot be executed here -------------------------------------------------
 */

static int refuse(const struct process *process, const char *what, struct bt_error *error)
{
    return bt_fail(error, BT_USAGE,
                   "the program's instruction at 0x%llx cannot be translated: it %s",
                   (unsigned long long)process->thread->rip, what);
}

static int interrupt(struct process *process, const struct decode_instruction *instruction,
                     struct executor_stop *stop, struct bt_error *error)
{
    unsigned number = instruction->bytes[instruction->size - 1];
    if (number == SYSTEM_CALLS)
        return refuse(process, "makes a 32-bit system call (int 0x80)", error);
    if (number == TRAP_BREAKPOINT)
        set_trap(process, stop, instruction, SIGTRAP, TRAP_BREAKPOINT);
    else if (number == TRAP_OVERFLOW)
        set_trap(process, stop, instruction, SIGSEGV, TRAP_OVERFLOW);
    else
        *stop = trap_protection(TRAP_GATE(number));
    return 0;
}

/* Whether the selector is of a code segment, so that a far return may load it. */
static bool is_code_segment(uint16_t selector)
{
    uint32_t rights = 0;
    bool known;
    __asm__("lar %2, %1" : "=@ccz"(known), "+r"(rights) : "r"((uint32_t)selector) : "cc");
    return known && (rights & CODE_SEGMENT) == CODE_SEGMENT;
}

/* Size of each of its stack accesses, in bytes. */
static unsigned operand_size(const struct decode_instruction *instruction)
{
    unsigned size = 4;
    for (unsigned i = 0; i < instruction->size; i++) {
        uint8_t byte = instruction->bytes[i];
        if (byte == 0x66 && size == 4)
            size = 2;
        if ((byte & 0xf8) == 0x48)
            size = 8;
        if (byte >= 0xca && byte <= 0xcf)
            break;
    }
    return size;
}

/* retf and iret: the code segment is above the return address. */
static int far_return(struct process *process, const struct decode_instruction *instruction,
                      struct executor_stop *stop, bool interrupt, struct bt_error *error)
{
    const struct exec_thread *thread = process->thread;
    uint64_t at = thread->registers[DECODE_RSP] + operand_size(instruction);
    uint16_t selector;
    if (interrupt && (thread->flags & TRAP_FLAG_NESTED_TASK))
        *stop = trap_protection(0);
    else if (program_read(process->space, &selector, at, sizeof selector) != 0)
        *stop = trap_page_fault(at, TRAP_USER_READ);
    else if (selector <= 3)
        *stop = trap_protection(0);
    else if ((selector & 3) != 3 || !is_code_segment(selector))
        *stop = trap_protection(TRAP_SELECTOR(selector));
    else
        return refuse(process,
                      interrupt ? "returns from an interrupt (iret)"
                                : "returns to another code segment (retf)",
                      error);
    return 0;
}

/* Emulated instructions may be refused for their operands, others because they cannot be
 * translated. */
static bool is_possible(const struct decode_instruction *instruction)
{
    switch (instruction->kind) {
    case DECODE_REFUSED:
        return false;
    case DECODE_EMULATED:
        return !far_branch_is(instruction) && instruction->mnemonic != ZYDIS_MNEMONIC_WRGSBASE &&
               instruction->mnemonic != ZYDIS_MNEMONIC_MOV;
    default:
        return emit_can(instruction);
    }
}

int process_refused(struct process *process, struct executor_stop *stop, struct bt_error *error)
{
    struct decode_instruction instruction;
    char what[64];
    if (decode_here(process, &instruction) == 0) {
        *stop = trap_page_fault(process->thread->rip, TRAP_USER_FETCH);
        return 0;
    }
    if (is_possible(&instruction)) {
        set_nothing(stop);
        return 0;
    }
    switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_INT:
        return interrupt(process, &instruction, stop, error);
    case ZYDIS_MNEMONIC_RET:
        return far_return(process, &instruction, stop, false, error);
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
        return far_return(process, &instruction, stop, true, error);
    case ZYDIS_MNEMONIC_CALL:
    case ZYDIS_MNEMONIC_JMP:
        return refuse(process, "branches to another code segment (a far call or jump)", error);
    case ZYDIS_MNEMONIC_WRGSBASE:
        return refuse(process, "sets the gs base (wrgsbase), which translated code needs", error);
    case ZYDIS_MNEMONIC_SYSENTER:
        return refuse(process, "makes a 32-bit system call (sysenter)", error);
    default:
        snprintf(what, sizeof what, "loads a segment register (%s)",
                 ZydisMnemonicGetString((ZydisMnemonic)instruction.mnemonic));
        return refuse(process, what, error);
    }
}
