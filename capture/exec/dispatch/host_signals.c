#define _GNU_SOURCE /* registers in ucontext_t, SA_ONSTACK, MAP_ANONYMOUS */
#include "capture/exec/dispatch/executor_state.h"
#include "capture/exec/dispatch/trampoline.h"
#include "capture/exec/dispatch/trap.h"
#include "capture/exec/translate/xsave_area.h"

#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK_BYTES ((size_t)1 << 20)

static const int signals[EXECUTOR_SIGNALS] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};

/* Indexes of the registers in ucontext_t, in the order of encodings. */
static const int context_registers[DECODE_REGISTERS] = {
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

int executor_signals_begin(struct executor *executor, struct bt_error *error)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    void *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return bt_fail_errno(error, "no memory for a signal stack");
    executor->signal_stack = (stack_t){.ss_sp = stack, .ss_size = STACK_BYTES};
    if (sigaltstack(&executor->signal_stack, &executor->old_stack) != 0) {
        munmap(stack, STACK_BYTES);
        return bt_fail_errno(error, "no signal stack");
    }
    action.sa_sigaction = (void (*)(int, siginfo_t *, void *))exec_signal_entry;
    for (unsigned i = 0; i < EXECUTOR_SIGNALS; i++) {
        if (signals[i] ==
            SIGTRAP) /* SIGTRAP sent to host threads must not interrupt system calls */
            action.sa_flags |= SA_RESTART;
        sigaction(signals[i], &action, &executor->old_actions[i]);
    }
    return 0;
}

void executor_signals_end(struct executor *executor)
{
    for (unsigned i = 0; i < EXECUTOR_SIGNALS; i++)
        sigaction(signals[i], &executor->old_actions[i], NULL);
    sigaltstack(&executor->old_stack, NULL);
    munmap(executor->signal_stack.ss_sp, STACK_BYTES);
}

/* Empties a full trace buffer: puts its records, moves the current block's entries to the begin of
 * the buffer, and retries the store that faulted at the guard pages. */
static void empty_buffer(struct executor *executor, const struct block *block, greg_t *registers)
{
    greg_t *pointer = &registers[context_registers[block->pointer]];
    uint8_t *begun = (uint8_t *)(uintptr_t)*pointer;
    uint8_t *end = executor->buffer + executor->settings.buffer_bytes;
    executor_consume(executor, begun);
    if (end > begun)
        memmove(executor->buffer, begun, (size_t)(end - begun));
    *pointer = (greg_t)(uintptr_t)executor->buffer;
    if (executor->result != 0 || executor_is_near(executor))
        executor_unlink(executor); /* leave after this block */
}

unsigned executor_pc_map_find(const struct block *block, unsigned offset)
{
    unsigned at = block->pc_map_count;
    while (at > 0 && block->pc_map[at - 1].traced > offset)
        at--;
    return at > 0 ? at - 1 : 0;
}

static void save_vector(struct exec_thread *thread, const ucontext_t *context)
{
    const uint8_t *area = (const uint8_t *)context->uc_mcontext.fpregs;
    uint32_t magic, size = XSAVE_HEADER;
    uint64_t components = XSAVE_HAS_X87 | XSAVE_HAS_SSE;
    memcpy(&magic, area + XSAVE_NOTE, sizeof magic);
    if (magic == XSAVE_NOTE_MAGIC) {
        memcpy(&size, area + XSAVE_NOTE_SIZE, sizeof size);
        memcpy(&components, area + XSAVE_HEADER, sizeof components);
    }
    if (thread->vector_live == EXEC_STEP_SSE) {
        memcpy(thread->vector + XSAVE_MXCSR, area + XSAVE_MXCSR, sizeof(uint32_t));
        if (components & XSAVE_HAS_SSE)
            memcpy(thread->vector + XSAVE_XMM, area + XSAVE_XMM, XSAVE_XMM_BYTES);
        else
            memset(thread->vector + XSAVE_XMM, 0, XSAVE_XMM_BYTES);
        return;
    }
    memcpy(thread->vector, area, size < thread->vector_bytes ? size : thread->vector_bytes);
    components &= thread->vector_mask;
    memcpy(thread->vector + XSAVE_HEADER, &components, sizeof components);
}

bool executor_finish_repeated(struct executor *executor, const struct block *block, unsigned offset,
                              const void *context_pointer)
{
    const ucontext_t *context = context_pointer;
    const greg_t *registers = context->uc_mcontext.gregs;
    const unsigned at = executor_pc_map_find(block, offset);
    const struct pc_map_entry *entry = &block->pc_map[at];
    const struct special *special = &block->specials[entry->specials];
    if (!exec_trace_has_addresses(executor->settings.trace))
        return entry->repeated && offset == entry->code &&
               (uint32_t)executor->thread->jump != (uint32_t)registers[REG_RCX];
    uint32_t *entries = (uint32_t *)(uintptr_t)registers[context_registers[block->pointer]];
    if (offset != entry->code || entry->specials >= block->special_count ||
        special->record != entry->records + 1 || special->access[0].form != DECODE_REPEATED ||
        entries[special->slot] == (uint32_t)registers[REG_RCX])
        return false;
    uint32_t *after = entries + special->slot + 1 + special->accesses;
    after[0] = (uint32_t)registers[REG_RCX];
    after[1] = (uint32_t)registers[context_registers[special->access[0].base]];
    return true;
}

void executor_save(struct executor *executor, const struct block *block, void *context_pointer,
                   struct executor_stop stop)
{
    ucontext_t *context = context_pointer;
    struct exec_thread *thread = executor->thread;
    greg_t *registers = context->uc_mcontext.gregs;
    unsigned offset = (unsigned)((uint8_t *)(uintptr_t)registers[REG_RIP] - block->code);
    unsigned at = executor_pc_map_find(block, offset);
    bool asking = (block->verify_code || block->saves_x87) &&
                  offset < block->pc_map[0].traced; /* rcx is already in the thread */
    for (unsigned i = 0; i < DECODE_REGISTERS; i++)
        if (i != block->pointer && i != block->scratch && !(asking && i == DECODE_RCX))
            thread->registers[i] = (uint64_t)registers[context_registers[i]];
    if (executor_has_pointer(executor)) {
        thread->pointer = (uint64_t)registers[context_registers[block->pointer]];
        if (offset >= block->advance)
            thread->pointer -= block->bytes;
    }
    thread->flags = (uint64_t)registers[REG_EFL] & ~(uint64_t)(TRAP_FLAG_RESUME | TRAP_FLAG);
    thread->rip = block->address + block->pc_map[at].offset;
    if (thread->vector_live)
        save_vector(thread, context);
    executor->stop = stop;
    executor->faulted = true;
    thread->stepping_out = false;
    thread->x87_unsettled = 1;
    executor->fault_block = block;
    executor->fault_instructions = at + executor_finish_repeated(executor, block, offset, context);
    if (executor->counts_turns) /* counted, but not executed */
        thread->turn += (int64_t)block->instructions - executor->fault_instructions;
    registers[REG_RIP] = (greg_t)(uintptr_t)exec_return;
    registers[REG_RSP] = (greg_t)thread->host_stack;
    registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

/* Page faults have an access and an address; general protection faults cannot be fixed. */
static bool fix_fault(struct executor *executor, const siginfo_t *info, uint64_t failure)
{
    uint32_t access = failure & TRAP_PAGE_FETCH   ? PROT_EXEC
                      : failure & TRAP_PAGE_WRITE ? PROT_WRITE
                                                  : PROT_READ;
    return (info->si_code == SEGV_ACCERR || info->si_code == SEGV_MAPERR) &&
           executor_fix_fault(executor, (uint64_t)(uintptr_t)info->si_addr, access);
}

static bool is_fault(int number, const siginfo_t *info)
{
    return info->si_code > 0 && (number == SIGSEGV || number == SIGBUS || number == SIGFPE ||
                                 number == SIGILL || number == SIGTRAP);
}

/* Whether a single step has ended. Its vector says so: where a hypervisor loses bit BS of DR6, the
 * kernel takes the trap for another one, and si_code is TRAP_BRKPT. */
static bool is_step(int number, const siginfo_t *info, const ucontext_t *context)
{
    return number == SIGTRAP && (info->si_code == TRAP_TRACE || info->si_code == TRAP_BRKPT) &&
           context->uc_mcontext.gregs[REG_TRAPNO] == TRAP_DEBUG;
}

/* Handles a signal from a process or a timer. */
static bool note(struct exec_thread *thread, int number, siginfo_t *info, ucontext_t *context)
{
    const struct executor *executor = thread->executor;
    executor_note_function *noted = executor ? executor->settings.operations->note : NULL;
    if (!noted) {
        signal(number, SIG_DFL);
        raise(number);
        return true;
    }
    void *whose = thread->note_context ? thread->note_context : executor->settings.context;
    if (!noted(whose, number, info, context))
        return true;
    thread->interrupt = 1;
    return executor_step_out(thread, context);
}

/* Handles a fault in a block, of an inserted instruction or of the program's. */
static bool fault(struct executor *executor, const struct block *block, int number, siginfo_t *info,
                  ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    const uint8_t *address = info->si_addr;
    const uint8_t *guard = executor->buffer + executor->settings.buffer_bytes;
    if (number == SIGSEGV && executor_has_pointer(executor) && address >= guard &&
        address < guard + CODE_CACHE_SLOTS * 8) {
        empty_buffer(executor, block, registers);
        return true;
    }
    if (number == SIGSEGV && (const void *)address == exec_thread_fence(executor->thread)) {
        executor_save(executor, block, context, (struct executor_stop){.reason = EXECUTOR_TURN});
        return false;
    }
    if (number == SIGSEGV && fix_fault(executor, info, (uint64_t)registers[REG_ERR])) {
        if (code_cache_find(executor->cache, block->address) == block)
            return true;
        /* the block may have changed its own code: stop after this instruction */
        executor->thread->stepping_out = true;
        registers[REG_EFL] |= TRAP_FLAG;
        return true;
    }
    executor_save(executor, block, context,
                  (struct executor_stop){.reason = EXECUTOR_FAULT,
                                         .signal = number,
                                         .code = info->si_code,
                                         .fault_address = (uint64_t)(uintptr_t)info->si_addr,
                                         .trap = (uint64_t)registers[REG_TRAPNO],
                                         .error = (uint64_t)registers[REG_ERR]});
    if (code_cache_holds(executor->cache, address)) /* the address is that of the instruction */
        executor->stop.fault_address = executor->thread->rip;
    return false;
}

static bool is_copying(const void *code)
{
    const uint8_t *begin = (const uint8_t *)(uintptr_t)exec_copy;
    return (const uint8_t *)code >= begin && (const uint8_t *)code < exec_copy_end;
}

bool exec_signal(int number, void *information, void *context_pointer)
{
    struct exec_thread *thread;
    __asm__("mov %%gs:%c1, %0" : "=r"(thread) : "i"(EXEC_THREAD_SELF));
    ucontext_t *context = context_pointer;
    siginfo_t *info = information;
    struct executor *executor = thread->executor;
    const void *code = (const void *)(uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    if (!is_fault(number, info))
        return note(thread, number, info, context);
    if (is_copying(code)) {
        context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)exec_copy_failed;
        return true;
    }
    if (executor && thread->stepping_out && is_step(number, info, context))
        return executor_step_out(thread, context);
    if (thread->probed && code == thread->probed) {
        context->uc_mcontext.gregs[REG_RAX] = number;
        context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)exec_probe_failed;
        return true;
    }
    const bool in_cache = executor && code_cache_holds(executor->cache, code);
    const struct block *block = in_cache ? code_cache_at(executor->cache, code) : NULL;
    if (in_cache && is_step(number, info, context)) {
        executor->traps = true; /* after popf; stops as for a signal */
        return executor_step_out(thread, context);
    }
    if (!block) { /* a fault of the host: default action */
        signal(number, SIG_DFL);
        return true;
    }
    return fault(executor, block, number, info, context);
}
