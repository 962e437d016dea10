/* Emulates instructions that translated code cannot execute: they use fs or gs, or fault in ways
 * that translated code does not. */
#include "capture/exec/dispatch/executor_state.h"
#include "capture/exec/dispatch/far_branch.h"
#include "capture/exec/dispatch/trampoline.h"
#include "capture/exec/dispatch/trap.h"

#include <Zydis/Zydis.h>
#include <sys/mman.h>

#define FS 4 /* as segment registers are encoded */

/* Reverts the count and the records of the block's last instruction. */
static void undo(struct executor *executor, const struct exit *exit, struct executor_stop stop)
{
    const struct block *block = exit->from;
    if (executor_has_pointer(executor))
        executor->thread->pointer -= block->bytes;
    executor->fault_block = block;
    executor->fault_instructions = block->pc_map_count - 1u;
    if (executor->counts_turns)
        executor->thread->turn++;
    executor->faulted = true;
    executor->stop = stop;
}

/* Raises a general protection fault with an error code. */
static bool protect(struct executor *executor, const struct exit *exit, uint64_t error)
{
    undo(executor, exit, trap_protection(error));
    return false;
}

static bool refuse(struct executor *executor, const struct exit *exit)
{
    undo(executor, exit, (struct executor_stop){.reason = EXECUTOR_REFUSED});
    return false;
}

/* Handles a different instruction that another process or thread has written there: it is next. */
static bool is_another(struct executor *executor, const struct exit *exit)
{
    undo(executor, exit, (struct executor_stop){.reason = EXECUTOR_INTERRUPTED});
    executor_invalidate(executor, exit->from->address, exit->from->address + exit->from->size);
    return false;
}

static void set_fs_base(struct executor *executor, uint64_t base)
{
    executor_consume_all(executor); /* entries in the buffer refer to the old base */
    executor->fs_base = executor->thread->fs_base = base;
}

/* Whether the processor can load a segment for reading. */
static bool is_segment(uint16_t selector)
{
    bool readable;
    __asm__("verr %1" : "=@ccz"(readable) : "r"(selector) : "cc");
    return readable;
}

/* Loads fs or gs. A null selector sets the base to 0, which gs has anyway; others are refused. */
static bool load_segment(struct executor *executor, const struct exit *exit, uint16_t selector,
                         bool fs)
{
    if (selector > 3)
        return is_segment(selector) ? refuse(executor, exit)
                                    : protect(executor, exit, TRAP_SELECTOR(selector));
    if (fs)
        set_fs_base(executor, 0);
    return true;
}

static void decode_at(struct executor *executor, uint64_t address,
                      struct decode_instruction *instruction)
{
    size_t readable = executor_readable(executor, address);
    decode(instruction, (const uint8_t *)(uintptr_t)address, readable, address);
}

/* The instruction's only general register, cut to 32 bits without REX.W. */
static uint64_t source_of(const struct exec_thread *thread,
                          const struct decode_instruction *instruction)
{
    uint8_t rex = instruction->size > 4 ? instruction->bytes[instruction->size - 4] : 0;
    uint64_t value = thread->registers[__builtin_ctz(instruction->registers_read)];
    return (rex & 0xf8) == 0x48 ? value : (uint32_t)value;
}

/* The address of an operand. */
static uint64_t address_of(const struct exec_thread *thread, const struct decode_access *access)
{
    uint64_t address = (uint64_t)access->displacement;
    if (access->base != DECODE_NONE)
        address += thread->registers[access->base];
    if (access->index != DECODE_NONE)
        address += thread->registers[access->index] * access->scale;
    return (access->narrow ? (uint32_t)address : address) + (access->fs ? thread->fs_base : 0);
}

/* Copies between the program's memory and the host's. False: a page fault. */
static bool move(struct executor *executor, const struct exit *exit, void *to, const void *from,
                 unsigned size, bool writes)
{
    uint64_t program = (uint64_t)(uintptr_t)(writes ? to : from);
    for (int times = 0; times < 2; times++)
        if (exec_copy(to, from, size) == 0)
            return true;
        else if (!executor_fix_fault(executor, program, writes ? PROT_WRITE : PROT_READ))
            break;
    undo(executor, exit, trap_page_fault(program, TRAP_PAGE_USER | (writes ? TRAP_PAGE_WRITE : 0)));
    return false;
}

static bool far_branch(struct executor *executor, const struct exit *exit,
                       const struct decode_instruction *instruction)
{
    struct exec_thread *thread = executor->thread;
    const struct decode_access *access = &instruction->accesses[0];
    uint8_t read[FAR_BRANCH_BYTES];
    struct far_branch branch = {.rsp = thread->registers[DECODE_RSP], .flags = thread->flags};
    const void *from = (const void *)(uintptr_t)address_of(thread, access);
    if (!move(executor, exit, read, from, access->size, false))
        return false;
    switch (far_branch_do(instruction, read, &branch)) {
    case FAR_BRANCH_FAULT:
        return protect(executor, exit, branch.error);
    case FAR_BRANCH_REFUSED:
        return refuse(executor, exit);
    default:
        break;
    }
    if (branch.pushed_bytes > 0 && !move(executor, exit, (void *)(uintptr_t)branch.rsp,
                                         branch.pushed, branch.pushed_bytes, true))
        return false;
    thread->registers[DECODE_RSP] = branch.rsp;
    thread->flags = branch.flags;
    thread->rip = branch.rip;
    return true;
}

bool executor_emulate(struct executor *executor, const struct exit *exit)
{
    struct exec_thread *thread = executor->thread;
    struct decode_instruction instruction;
    decode_at(executor, exit->target, &instruction);
    if (instruction.kind != DECODE_EMULATED)
        return is_another(executor, exit);
    if (far_branch_is(&instruction))
        return far_branch(executor, exit, &instruction);
    uint64_t value = instruction.registers_read ? source_of(thread, &instruction) : 0;
    bool done = true;
    switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_WRFSBASE:
        if (!decode_is_canonical(value))
            return protect(executor, exit, 0);
        set_fs_base(executor, value);
        break;
    case ZYDIS_MNEMONIC_WRGSBASE:
        if (!decode_is_canonical(value))
            return protect(executor, exit, 0);
        done = value == 0 || refuse(executor, exit);
        break;
    case ZYDIS_MNEMONIC_RDGSBASE:
        thread->registers[__builtin_ctz(instruction.registers_written)] = 0;
        break;
    case ZYDIS_MNEMONIC_MOV:
        done = load_segment(executor, exit, (uint16_t)value,
                            (instruction.bytes[instruction.size - 1] >> 3 & 7) == FS);
        break;
    case ZYDIS_MNEMONIC_XBEGIN: /* aborts */
        thread->registers[DECODE_RAX] = 0;
        thread->rip = instruction.target;
        return true;
    default:
        return is_another(executor, exit);
    }
    if (done)
        thread->rip = exit->target + instruction.size;
    return done;
}

bool executor_can_go(struct executor *executor, const struct exit *exit)
{
    struct exec_thread *thread = executor->thread;
    struct decode_instruction instruction;
    if (decode_is_canonical(thread->rip))
        return true;
    decode_at(executor, exit->branch_address, &instruction);
    if (exit->branch_kind == DECODE_RETURN)
        thread->registers[DECODE_RSP] -= 8u + instruction.stack_release;
    else if (exit->branch_kind == DECODE_CALL_INDIRECT)
        thread->registers[DECODE_RSP] += 8;
    thread->rip = exit->branch_address;
    return protect(executor, exit, 0);
}
