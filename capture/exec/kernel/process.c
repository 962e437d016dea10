#define _GNU_SOURCE /* si_code's values */
#include "capture/exec/kernel/process_thread.h"

#include "capture/exec/dispatch/trampoline.h"
#include "capture/exec/dispatch/trap.h"
#include "capture/exec/memory/program_memory.h"
#include "capture/exec/translate/decode.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- callbacks of the executor -----------------------------------------------------------------
 */

/* False: the page is after the end of its file. */
static bool is_present(uint64_t page)
{
    uint8_t byte;
    return exec_copy(&byte, (const void *)(uintptr_t)page, 1) == 0;
}

/* Watches a page of code. Most pages are watched already, which takes no lock to see. */
static bool watch(struct process *process, uint64_t page)
{
    uint64_t *place = &process->watched_pages[page / SPACE_PAGE % PROCESS_WATCHED];
    struct space_mapping mapping;
    const unsigned changes = space_changes(process->space);
    if (process->watched_at != changes)
        memset(process->watched_pages, 0, sizeof process->watched_pages);
    process->watched_at = changes;
    if (*place != page || page == 0) {
        if (!space_find(process->space, page, &mapping) || !(mapping.protection & PROT_EXEC) ||
            space_watch(process->space, page, page + SPACE_PAGE) != 0)
            return false;
        *place = page;
    }
    return is_present(page);
}

size_t process_readable(void *context, uint64_t address)
{
    uint64_t page = address & ~(SPACE_PAGE - 1);
    if (!watch(context, page))
        return 0;
    return page + (watch(context, page + SPACE_PAGE) ? 2 : 1) * SPACE_PAGE - address;
}

/* Writes through other mappings, the file or other processes are not seen in shared memory. */
static bool is_shared(void *context, uint64_t address)
{
    struct process *process = context;
    struct space_mapping mapping;
    return space_find(process->space, address, &mapping) && (mapping.flags & SPACE_SHARED);
}

static void code_lost(void *context, uint64_t start, uint64_t end)
{
    struct process *process = context;
    executor_invalidate(process->executor, start, end);
    process_store_changed(process, start, end);
    if (process->control)
        process->control->changed(process->control_context, start, end);
}

static bool fix_fault(void *context, uint64_t address, uint32_t access)
{
    struct process *process = context;
    return space_fault(process->space, address, access) == SPACE_FAULT_FIXED;
}

static int put(void *context, struct record *records, size_t count)
{
    struct process *process = context;
    if (process->shares)
        return 0;
    return process->operations->put(process->settings.context, records, count);
}

static int take(void *context, struct trace_expander *expander, const uint32_t *entries,
                size_t count, const struct block *part, unsigned instructions)
{
    struct process *process = context;
    if (process->shares)
        return 0;
    return process->operations->take(process->settings.context, expander, entries, count, part,
                                     instructions);
}

static uint64_t count_taken(void *context)
{
    const struct process *process = context;
    return process->operations->count(process->settings.context);
}

static unsigned current_processor(const struct process *process)
{
    return process->threads ? process_thread_self(process)->processor : 0;
}

static void report_translated(void *context, const struct block *block)
{
    struct process *process = context;
    process->operations->translated(process->settings.context, current_processor(process), block);
}

static void report_signal(void *context, const struct signal_report *signal)
{
    struct process *process = context;
    if (signal->handler)
        process_thread_note(process, EVENT_SIGNAL);
    if (process->operations->signalled)
        process->operations->signalled(process->settings.context, current_processor(process),
                                       signal);
}

static void report_call(const struct process *process, const struct system_call *call,
                        bool returned)
{
    if (process->operations->called)
        process->operations->called(process->settings.context, current_processor(process), call,
                                    returned);
}

/* The executor has stopped at a breakpoint. */
static void report_reached(const struct process *process)
{
    const struct exec_thread *thread = process->thread;
    if (process->operations->reached && !process->shares &&
        breakpoints_has(&process->watched, thread->rip))
        process->operations->reached(process->settings.context, current_processor(process),
                                     thread->rip, thread->registers);
}

int process_read(struct process *process, void *bytes, uint64_t address, size_t size)
{
    return program_read(process->space, bytes, address, size);
}

const uint64_t *process_registers(const struct process *process)
{
    return process->thread->registers;
}

uint64_t process_instruction(const struct process *process)
{
    return process->thread->rip;
}

bool process_is_in_child(const struct process *process)
{
    return process->shares;
}

bool process_mapping(struct process *process, uint64_t address, uint64_t *begin, uint64_t *end)
{
    struct space_mapping mapping;
    if (!space_find(process->space, address, &mapping) || (mapping.flags & SPACE_HEAP))
        return false;
    *begin = mapping.start;
    *end = mapping.end;
    return true;
}

static void report_loaded(struct process *process)
{
    if (process->operations->loaded && !process->shares)
        process->operations->loaded(process->settings.context, process->modules);
}

/* --- beginning and end -------------------------------------------------------------------------
 */

static int make_parts(struct process *process, const struct initial_stack *start,
                      struct bt_error *error)
{
    const struct executor_settings settings = {
        .trace = process->settings.trace,
        .stepping = process->settings.stepping,
        .keeps = process_regions_repeat(&process->settings.regions),
        .markers = process->settings.regions.markers,
        .repetitions = process->settings.repetitions,
        .cache_bytes = process->settings.cache_bytes,
        .buffer_bytes = process->settings.buffer_bytes,
        .operations = &process->executor_operations,
        .context = process};
    process->executor_operations = (struct executor_operations){
        .readable = process_readable,
        .unseen = is_shared,
        .put = process->operations->put ? put : NULL,
        .take = process->operations->take ? take : NULL,
        .count = process->operations->count ? count_taken : NULL,
        .fix_fault = fix_fault,
        .note = signals_note,
        .translated = process->operations->translated ? report_translated : NULL};
    process->executor = executor_new(&settings, error);
    if (!process->executor)
        return BT_MEMORY;
    process->calls = system_calls_new(process->space, process->load, start, error);
    if (!process->calls)
        return BT_MEMORY;
    if (process->operations->signalled || process->operations->event)
        signals_observe(process->signals, report_signal, process);
    if (process->operations->notice)
        system_calls_notice(process->calls, process->operations->notice, process->settings.context);
    return 0;
}

static int load(struct process *process, const char *path, const char *const *arguments,
                struct bt_error *error)
{
    struct initial_stack start;
    process->space = space_new(&space_layout_default, SPACE_TRANSLATED, error);
    if (!process->space)
        return BT_MEMORY;
    process->load = load_new(process->space, path, process->settings.file, arguments, error);
    process->modules = process->load ? modules_new(process->space, error) : NULL;
    if (!process->modules)
        return BT_USAGE;
    modules_refresh(process->modules);
    int result =
        initial_stack_new(&start, process->space, process->load, &process->settings.stack, error);
    if (result < 0)
        return result;
    process->thread = exec_thread_new(error);
    process->signals = process->thread ? signals_new(process->space, process->thread, error) : NULL;
    if (!process->signals)
        return BT_MEMORY;
    process->thread->note_context = process->signals;
    process->thread->rip = start.rip;
    process->thread->registers[DECODE_RSP] = start.rsp;
    return make_parts(process, &start, error);
}

struct process *process_new(const char *path, const char *const *arguments,
                            const struct process_settings *settings, struct bt_error *error)
{
    static const struct process_operations none = {.put = NULL};
    struct process *process = calloc(1, sizeof *process);
    if (!process) {
        bt_fail(error, BT_MEMORY, "no memory for a program");
        return NULL;
    }
    process->settings = *settings;
    process->operations = settings->operations ? settings->operations : &none;
    if (load(process, path, arguments, error) != 0) {
        process_free(process);
        return NULL;
    }
    if (settings->stores)
        process_store_open(process);
    return process;
}

void process_free(struct process *process)
{
    if (!process)
        return;
    signals_free(process->signals);
    system_calls_free(process->calls);
    if (process->space)
        space_set_listener(process->space, NULL, NULL);
    executor_free(process->executor);
    process_store_free(process);
    process_threads_free(process->threads);
    exec_thread_free(process->thread);
    modules_free(process->modules);
    breakpoints_clear(&process->watched);
    load_free(process->load);
    space_free(process->space);
    free(process);
}

int process_hide(struct process *process, int descriptor, struct bt_error *error)
{
    return system_calls_hide(process->calls, descriptor, error);
}

_Static_assert(sizeof(uint64_t[PROCESS_LIMITS]) == SYSTEM_CALLS_SAVED_BYTES, "limits");

void process_get_limits(const struct process *process, uint64_t limits[PROCESS_LIMITS])
{
    system_calls_save(process->calls, (uint8_t *)limits);
}

void process_set_limits(struct process *process, const uint64_t limits[PROCESS_LIMITS])
{
    system_calls_restore(process->calls, (const uint8_t *)limits);
}

uint64_t process_switches(const struct process *process)
{
    return process->threads ? process->threads->switches : 0;
}

const struct modules *process_modules(const struct process *process)
{
    modules_refresh(process->modules);
    return process->modules;
}

_Noreturn void process_exit(const struct process_end *end)
{
    if (end->ending == PROCESS_KILLED)
        signals_die(end->value);
    _exit(end->value);
}

/* --- running -----------------------------------------------------------------------------------
 */

static void end_with(struct process *process, enum process_ending ending, int value)
{
    process->end =
        (struct process_end){.ending = ending, .value = value, .is_child = process->is_child};
    process->ended = true;
}

static void end_if(struct process *process, int number)
{
    if (number != 0)
        end_with(process, PROCESS_KILLED, number);
}

/* rip is after the call: sets it back, so that the call is made again after the handler. */
static void restart_call(struct process *process, uint64_t number)
{
    process->thread->rip -= 2;
    process->thread->registers[DECODE_RAX] = number;
}

static int finish_call(struct process *process, struct system_call *call,
                       enum system_call_outcome outcome, struct bt_error *error)
{
    switch (outcome) {
    case SYSTEM_CALL_EXIT:
        if (!process->shares && !process_thread_is_alone(process)) {
            struct process_thread *self = process_thread_self(process);
            self->ended = true;
            self->status = (int)(call->arguments[0] & 0xff);
            return 0;
        }
        /* fall through */
    case SYSTEM_CALL_EXIT_GROUP:
        end_with(process, PROCESS_EXITED, (int)(call->arguments[0] & 0xff));
        return 0;
    case SYSTEM_CALL_CLONE:
        process_clone(process, call);
        return 0;
    case SYSTEM_CALL_EXECUTE:
        process_execute(process, call);
        return 0;
    case SYSTEM_CALL_SIGNAL:
        signals_system_call(process->signals, call);
        return 0;
    case SYSTEM_CALL_UNABLE:
        end_with(process, PROCESS_UNABLE, 1);
        return bt_fail(error, BT_USAGE, "the program %s", call->why);
    default:
        return 0;
    }
}

static void before_block(void *whose)
{
    struct process_thread *self = whose;
    signals_show(self->signals);
    if (self->at_host)
        process_host_before_block(self->host);
}

static void after_block(void *whose)
{
    struct process_thread *self = whose;
    if (self->at_host)
        process_host_after_block(self->host);
    signals_hide(self->signals);
}

/* Other threads may run while this one blocks, except in a child that shares our memory. */
static void let_others_run(const struct process *process, struct system_call *call)
{
    struct process_thread *self = process_thread_self(process);
    bool is_elsewhere = self->host && !process->shares && !self->at_host;
    if (is_elsewhere || (!self->at_host && !signals_hides(process->signals)))
        return;
    call->before_block = before_block;
    call->after_block = after_block;
    call->whose = self;
}

static int do_system_call(struct process *process, struct system_call *call, struct bt_error *error)
{
    if (!process->shares && process_thread_call(process, call))
        return 0;
    struct signals_wait wait;
    if (process_clock_call(process, call) || scheduler_call(process, call))
        return 0;
    if (process_thread_self(process)->at_host)
        signals_open_wait(process->signals, call, &wait);
    let_others_run(process, call);
    return finish_call(process, call, system_call_do(process->calls, call), error);
}

/* Updates the modules after a call. With `count` the number of instructions takes time to find out.
 */
static void note_modules(struct process *process, const struct system_call *call)
{
    const bool may =
        modules_may_change(process->modules, call->number, call->arguments, call->result);
    if (may || !process->operations->count)
        modules_set_time(process->modules, process_instructions(process));
    if (!may)
        return;
    modules_refresh(process->modules);
    report_loaded(process);
}

static int system_call(struct process *process, struct bt_error *error)
{
    struct exec_thread *thread = process->thread;
    const uint64_t *registers = thread->registers;
    struct system_call call = {.number = registers[DECODE_RAX],
                               .arguments = {registers[DECODE_RDI], registers[DECODE_RSI],
                                             registers[DECODE_RDX], registers[DECODE_R10],
                                             registers[DECODE_R8], registers[DECODE_R9]},
                               .fs_base = thread->fs_base,
                               .interrupt = &thread->interrupt};
    if (call.number == SYS_rt_sigreturn) {
        report_call(process, &call, false);
        process_thread_note(process, EVENT_SIGNAL_RETURN);
        end_if(process, signals_return(process->signals));
        return 0;
    }
    if (thread->interrupt) {
        restart_call(process, call.number);
        return 0;
    }
    bool may_return = call.number != SYS_exit && call.number != SYS_exit_group;
    if (!may_return || call.number == SYS_execve || call.number == SYS_execveat)
        report_call(process, &call, false);
    int result = do_system_call(process, &call, error);
    if (may_return)
        report_call(process, &call, true);
    note_modules(process, &call);
    thread->fs_base = call.fs_base;
    if (call.result == EXEC_SYSTEM_CALL_AGAIN)
        restart_call(process, call.number);
    else
        thread->registers[DECODE_RAX] = (uint64_t)call.result;
    return result;
}

/* Notes the instruction that has raised a signal, if there is one; not after a single step. */
static void note_fault(struct process *process, const struct executor_stop *stop, uint64_t rip)
{
    struct process_thread *self = process_thread_self(process);
    struct decode_instruction instruction;
    if (process->shares || !process->operations->event ||
        (stop->signal == SIGTRAP && stop->code == TRAP_TRACE))
        return;
    decode(&instruction, (const uint8_t *)(uintptr_t)rip, process_readable(process, rip), rip);
    self->fault_address = rip;
    self->fault_size =
        instruction.kind != DECODE_TRAP || instruction.mnemonic != 0 ? instruction.size : 0;
}

/* Corrects the signal of a fault in a mapping: SEGV_ACCERR; or SIGBUS for a fetch from a page that
 * cannot be read, because it is after the end of its file. The kernel fetches for a page that may
 * be accessed in any way, and so finds it present. rip: of the instruction. */
static void raise_fault(struct process *process, struct executor_stop *stop, uint64_t rip)
{
    struct space_mapping mapping;
    note_fault(process, stop, rip);
    if (stop->signal == SIGSEGV && stop->code == SEGV_MAPERR &&
        space_find(process->space, stop->fault_address, &mapping)) {
        bool fetched = (stop->error & TRAP_PAGE_FETCH) && mapping.protection != PROT_NONE;
        bool lost = fetched && !is_present(stop->fault_address);
        stop->signal = lost ? SIGBUS : SIGSEGV;
        stop->code = lost ? BUS_ADRERR : SEGV_ACCERR;
        if (fetched && !lost)
            stop->error |= TRAP_PAGE_PROTECTION;
    }
    end_if(process, signals_raise(process->signals, stop));
}

static void raise_if(struct process *process, struct executor_stop *stop, uint64_t rip)
{
    if (stop->reason == EXECUTOR_FAULT)
        raise_fault(process, stop, rip);
}

static int define(struct process *process, struct executor_stop *stop, struct bt_error *error)
{
    const uint64_t rip = process->thread->rip;
    int result = process->control->define(process->control_context, stop, error);
    if (result == 0)
        raise_if(process, stop, rip);
    return result;
}

int process_handle(struct process *process, struct executor_stop *stop, struct bt_error *error)
{
    const uint64_t rip = process->thread->rip;
    switch (stop->reason) {
    case EXECUTOR_SYSTEM_CALL:
        return system_call(process, error);
    case EXECUTOR_INTERRUPTED:
        end_if(process, signals_deliver(process->signals));
        return 0;
    case EXECUTOR_FAULT:
        if (process_vsyscall(process, stop))
            stop->reason = EXECUTOR_INTERRUPTED; /* without a signal */
        else
            raise_fault(process, stop, rip);
        return 0;
    case EXECUTOR_TRAP:
        process_trap(process, stop);
        raise_if(process, stop, rip);
        return 0;
    case EXECUTOR_DEFINED:
        return define(process, stop, error);
    case EXECUTOR_REFUSED:
        if (process_refused(process, stop, error) != 0) {
            end_with(process, PROCESS_UNABLE, 1);
            return BT_USAGE;
        }
        raise_if(process, stop, rip);
        return 0;
    default:
        return 0;
    }
}

int process_step(struct process *process, struct executor_stop *stop, struct bt_error *error)
{
    process_thread_report(process);
    int result = executor_run(process->executor, stop, error);
    if (result == BT_CLOSED) {
        process_close_regions(process);
        result = 0;
    }
    if (result == 0)
        result = scheduler_handle(process, stop, error);
    if (process->ended)
        process_thread_report(process);
    if (result == 0)
        result = scheduler_next(process, stop, error);
    if (result != 0 && !process->ended)
        end_with(process, PROCESS_UNABLE, 1);
    return result;
}

int process_loop(struct process *process, struct bt_error *error)
{
    struct executor_stop stop;
    int result = 0;
    while (!process->ended && result == 0) {
        result = process_step(process, &stop, error);
        if (result != 0)
            process->result = result;
        if (result != 0 || (stop.reason != EXECUTOR_LIMIT && stop.reason != EXECUTOR_BREAKPOINT))
            continue;
        process_regions_update(process, stop.reason == EXECUTOR_BREAKPOINT);
        if (stop.reason == EXECUTOR_BREAKPOINT)
            report_reached(process);
        if (process->regions.ended && process->settings.regions.ends)
            end_with(process, PROCESS_LIMITED, 0);
    }
    return result;
}

int process_begin(struct process *process, struct bt_error *error)
{
    int result = executor_begin(process->executor, process->thread, error);
    if (result != 0) {
        end_with(process, PROCESS_UNABLE, 1);
        return result;
    }
    process->threads = process_threads_new(process);
    if (!process->threads) {
        executor_end(process->executor);
        end_with(process, PROCESS_UNABLE, 1);
        return bt_fail(error, BT_MEMORY, "no memory for threads");
    }
    space_set_listener(process->space, code_lost, process);
    signals_begin(process->signals);
    process_regions_begin(process);
    report_loaded(process);
    return 0;
}

void process_finish(struct process *process)
{
    process_threads_finish(process);
    signals_end(process->signals);
    executor_end(process->executor);
}

int process_run(struct process *process, struct process_end *end, struct bt_error *error)
{
    process->error = error;
    int result = process_begin(process, error);
    if (result == 0) {
        process_loop(process, error);
        process_finish(process);
        process_store_save(process);
        result = process->result;
    }
    *end = process->end;
    return result;
}
