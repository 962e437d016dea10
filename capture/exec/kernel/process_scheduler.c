#define _GNU_SOURCE /* sem_clockwait, syscall */
#include "capture/exec/kernel/process_thread.h"
#include "capture/exec/translate/decode.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PIDFD_SEND_SIGNAL 424
#define FUTEX_WAITV       449 /* calls that the C library's headers may not have */
#define FUTEX_WAIT_2      455
#define TURN_MAX          ((uint64_t)1 << 31) /* that a thread's own count is given */

/* --- turns -------------------------------------------------------------------------------------
 */

static void give_part(struct process *process, uint64_t left)
{
    const uint64_t part = left < TURN_MAX ? left : TURN_MAX;
    process->thread->turn = (int64_t)part;
    process->threads->rest = left - part;
}

/* Starts a turn. Short turns would only cost time when nothing is captured any more. */
static void begin_turn(struct process *process)
{
    uint64_t quantum = process->settings.quantum;
    if (quantum == 0 || (process->regions.ended && quantum < PROCESS_QUANTUM))
        quantum = PROCESS_QUANTUM;
    give_part(process, quantum);
}

void scheduler_count(struct process *process)
{
    executor_count_turns(process->executor);
    begin_turn(process);
}

void scheduler_count_limits(struct process *process)
{
    executor_count_limits(process->executor);
    give_part(process, UINT64_MAX); /* one thread alone has no turns */
}

void scheduler_switch_to(struct process *process, struct process_thread *thread)
{
    struct process_threads *threads = process->threads;
    if (process->control && thread->thread != process->thread)
        process->control->switching(process->control_context, thread->thread);
    threads->current = thread;
    process->thread = thread->thread;
    process->signals = thread->signals;
    executor_flush(process->executor); /* what comes next is another processor's */
    exec_thread_take_over(thread->thread);
    executor_switch(process->executor, thread->thread, thread->processor);
    process_regions_switch(process);
}

/* --- handling a stop ---------------------------------------------------------------------------
 */

static void handle(void *context)
{
    struct process_thread *self = context;
    self->at_host = true;
    self->result = process_handle(self->process, &self->stop, &self->error);
    self->at_host = false;
}

/* Calls that do not block and do not depend on the calling thread. */
static bool is_anybodys(const struct process *process, const struct executor_stop *stop)
{
    if (stop->reason != EXECUTOR_SYSTEM_CALL || process->thread->interrupt)
        return false;
    switch (process->thread->registers[DECODE_RAX]) {
    case SYS_mmap:
        return process->thread->registers[DECODE_R10] & MAP_ANONYMOUS;
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_mremap:
    case SYS_brk:
    case SYS_madvise:
    case SYS_getpid:
    case SYS_gettid:
    case SYS_clock_gettime:
    case SYS_gettimeofday:
    case SYS_sched_yield:
    case SYS_rt_sigaction:
    case SYS_clone:
    case SYS_clone3:
    case SYS_fork:
    case SYS_vfork:
    case SYS_execve:
    case SYS_execveat:
    case SYS_exit:
    case SYS_exit_group:
        return true;
    default:
        return false;
    }
}

static bool is_futex(const struct process *process, const struct executor_stop *stop)
{
    return stop->reason == EXECUTOR_SYSTEM_CALL && !process->thread->interrupt &&
           process->thread->registers[DECODE_RAX] == SYS_futex;
}

/* Makes threads runnable that the call may have woken in the kernel. */
static void settle(struct process *process)
{
    for (struct process_thread *at = process->threads->all; at; at = at->next)
        if (at->state == PROCESS_CALLING && process_host_settle(at->host))
            at->state = PROCESS_READY;
}

static void nothing(void *context)
{
    (void)context;
}

/* Waits until the receiver of a signal has noted it. If the receiver is another thread the turn
 * ends: the kernel ends a process before the sender of a fatal signal continues. */
static void note_signals(struct process_thread *self)
{
    for (struct process_thread *at = self->process->threads->all; at; at = at->next) {
        if (at->host && at->state != PROCESS_CALLING && !process_host_has_returned(at->host))
            process_host_run(at->host, nothing, at);
        self->yields = self->yields || (at != self && at->thread->interrupt);
    }
}

/* Handles the stop in the host, which may block while others run. */
static int conclude(struct process_thread *self, bool done, struct executor_stop *stop,
                    struct bt_error *error)
{
    if (!done) {
        self->state = PROCESS_CALLING;
        return 0;
    }
    if (process_host_has_blocked(self->host))
        settle(self->process);
    if (self->signals_others)
        note_signals(self);
    self->signals_others = false;
    if (self->result != 0)
        *error = self->error;
    *stop = self->stop;
    return self->result;
}

/* The host makes calls for futexes that other processes share. */
static bool is_shared(struct process *process)
{
    struct system_call call = {.arguments = {process->thread->registers[DECODE_RDI],
                                             process->thread->registers[DECODE_RSI]}};
    return process_futex_is_shared(process, &call);
}

int scheduler_handle(struct process *process, struct executor_stop *stop, struct bt_error *error)
{
    struct process_thread *self = process->threads->current;
    if (stop->reason == EXECUTOR_TURN || stop->reason == EXECUTOR_LIMIT ||
        stop->reason == EXECUTOR_BREAKPOINT || stop->reason == EXECUTOR_BRANCH)
        return 0;
    if (process->shares || !self->host || is_anybodys(process, stop) ||
        (is_futex(process, stop) && !is_shared(process)))
        return process_handle(process, stop, error);
    self->stop = *stop;
    return conclude(self, process_host_run(self->host, handle, self), stop, error);
}

/* --- emulated system calls ---------------------------------------------------------------------
 */

/* Replaces the first thread's ID, as the program sees it, by that of its host. */
static void to_host(const struct process *process, uint64_t *number)
{
    const struct process_thread *first = process->threads->first;
    if (*number == (uint64_t)first->number && first->host)
        *number = (uint64_t)process_host_number(first->host);
}

bool scheduler_call(struct process *process, struct system_call *call)
{
    struct process_thread *self = process->threads->current;
    if (process->shares || !self->host)
        return false;
    switch (call->number) {
    case SYS_gettid:
        call->result = self->number;
        return true;
    case SYS_sched_yield:
        self->yields = true;
        call->result = 0;
        return true;
    case FUTEX_WAIT_2:
    case FUTEX_WAITV:
        process->threads->kernel_waits = true;
        return false;
    case SYS_futex:
        return process_futex_call(process, call);
    case SYS_kill:
    case SYS_rt_sigqueueinfo:
    case PIDFD_SEND_SIGNAL:
        self->signals_others = true;
        return false;
    case SYS_tkill:
        self->signals_others = true;
        to_host(process, &call->arguments[0]);
        return false;
    case SYS_tgkill:
    case SYS_rt_tgsigqueueinfo:
        self->signals_others = true;
        to_host(process, &call->arguments[1]);
        return false;
    default:
        return false;
    }
}

/* --- the next thread ---------------------------------------------------------------------------
 */

/* Handles external events. */
static bool look(struct process *process, struct timespec *next)
{
    for (struct process_thread *at = process->threads->all; at; at = at->next)
        if (at->state == PROCESS_CALLING && process_host_has_returned(at->host))
            at->state = PROCESS_READY;
    return process->threads->waiting && process_futex_expire(process, next);
}

static struct process_thread *next_ready(const struct process_threads *threads)
{
    struct process_thread *at = threads->current;
    do {
        at = at->next ? at->next : threads->all;
        if (!at->ended && at->state == PROCESS_READY)
            return at;
    } while (at != threads->current);
    return NULL;
}

/* Waits until a thread is runnable. */
static struct process_thread *wait_for_one(struct process *process)
{
    struct process_threads *threads = process->threads;
    for (;;) {
        struct timespec next;
        bool timed = look(process, &next);
        struct process_thread *ready = next_ready(threads);
        if (ready)
            return ready;
        if (timed)
            sem_clockwait(&threads->event, CLOCK_MONOTONIC, &next);
        else
            sem_wait(&threads->event);
    }
}

static bool is_any_left(const struct process_threads *threads)
{
    for (const struct process_thread *at = threads->all; at; at = at->next)
        if (!at->ended)
            return true;
    return false;
}

/* The turn starts with the rest of the system call that the thread was blocked in. */
static int go_on(struct process *process, struct bt_error *error)
{
    struct process_thread *self = process->threads->current;
    struct executor_stop stop;
    if (!self->host || !process_host_has_returned(self->host))
        return 0;
    return conclude(self, process_host_resume(self->host), &stop, error);
}

static bool is_over(const struct process_thread *self)
{
    return self->ended || self->yields || self->state != PROCESS_READY;
}

/* Switches to the next thread, which may be the same. */
static int pass(struct process *process, struct bt_error *error)
{
    struct process_threads *threads = process->threads;
    struct process_thread *before = threads->current;
    before->yields = false;
    struct process_thread *next = wait_for_one(process);
    if (next != before) {
        threads->switches++;
        scheduler_switch_to(process, next);
    }
    begin_turn(process);
    return go_on(process, error);
}

/* The current thread has ended. */
static int replace(struct process *process, struct bt_error *error)
{
    struct process_threads *threads = process->threads;
    struct process_thread *self = threads->current;
    process_thread_end(process);
    if (!is_any_left(threads)) {
        process->end = (struct process_end){.ending = PROCESS_EXITED,
                                            .value = threads->first->status,
                                            .is_child = process->is_child};
        process->ended = true;
        return 0;
    }
    int result = pass(process, error);
    if (self != threads->first)
        process_thread_free(self);
    return result;
}

static bool is_first_alone(const struct process *process)
{
    const struct process_thread *first = process->threads->first;
    return process_thread_is_alone(process) && !process->shares && !first->ended &&
           first->state == PROCESS_READY && !process_host_has_returned(first->host);
}

int scheduler_next(struct process *process, const struct executor_stop *stop,
                   struct bt_error *error)
{
    struct process_threads *threads = process->threads;
    bool ends = stop->reason == EXECUTOR_TURN;
    int result = 0;
    if (threads->first->host && is_first_alone(process))
        process_thread_move_back(process);
    if (ends && (threads->rest > 0 || process->shares)) {
        give_part(process, process->shares ? TURN_MAX : threads->rest);
        ends = false;
    }
    while (result == 0 && !process->ended && !process->shares &&
           (ends || is_over(threads->current))) {
        ends = false;
        result = threads->current->ended ? replace(process, error) : pass(process, error);
    }
    return result;
}
