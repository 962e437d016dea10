#define _GNU_SOURCE /* syscall */
#include "capture/exec/kernel/process_thread.h"

#include "capture/exec/memory/program_memory.h"
#include "capture/exec/translate/decode.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROBUST_MAX   2048     /* maximum length of a robust list, as in the kernel */
#define ROBUST_BYTES 24       /* size of the head of a robust list */
#define EXIT_NS      1000000L /* interval of polling for woken threads */

/* --- the list of threads -----------------------------------------------------------------------
 */

struct process_threads *process_threads_new(struct process *process)
{
    struct process_threads *threads = calloc(1, sizeof *threads);
    struct process_thread *first = calloc(1, sizeof *first);
    if (!threads || !first) {
        free(threads);
        free(first);
        return NULL;
    }
    first->process = process;
    first->thread = process->thread;
    first->signals = process->signals;
    first->number = threads->executing = (int)syscall(SYS_gettid);
    threads->first = threads->all = threads->current = first;
    threads->used[0] = true;
    sem_init(&threads->event, 0, 0);
    return threads;
}

void process_threads_free(struct process_threads *threads)
{
    if (!threads)
        return;
    free(threads->first);
    sem_destroy(&threads->event);
    free(threads);
}

struct process_thread *process_thread_self(const struct process *process)
{
    return process->threads->current;
}

bool process_thread_is_alone(const struct process *process)
{
    return !process->threads->all->next;
}

/* Number of the first processor from 0 on that is not taken; UINT8_MAX: the last one is shared. */
static unsigned first_free(const bool taken[UINT8_MAX + 1])
{
    unsigned processor = 0;
    while (processor < UINT8_MAX && taken[processor])
        processor++;
    return processor;
}

/* Gives a thread a processor that no thread has had, or else one that no living thread has. */
static void choose_processor(struct process_threads *threads, struct process_thread *made)
{
    const unsigned numbers = made->process->settings.numbers;
    bool taken[UINT8_MAX + 1] = {false};
    for (const struct process_thread *thread = threads->all; thread; thread = thread->next)
        taken[thread->processor] = true;
    unsigned processor = first_free(threads->used);
    if (threads->used[processor] || (numbers > 0 && processor >= numbers))
        processor = first_free(taken);
    made->processor = (uint8_t)processor;
    if (threads->used[processor] && !taken[processor])
        made->event = EVENT_THREAD;
    threads->used[processor] = true;
}

void process_thread_note(struct process *process, enum record_event event)
{
    struct process_thread *self = process_thread_self(process);
    if (!process->shares && self->event != EVENT_THREAD)
        self->event = (uint8_t)event;
}

void process_thread_report(struct process *process)
{
    struct process_thread *self = process_thread_self(process);
    if (process->shares)
        return;
    if (self->fault_size > 0)
        executor_put_fault(process->executor, self->fault_address, self->fault_size);
    self->fault_size = 0;
    if (self->event != EVENT_NONE && process->operations->event)
        process->operations->event(process->settings.context, self->processor,
                                   (enum record_event)self->event);
    self->event = EVENT_NONE;
}

static void put_in(struct process_threads *threads, struct process_thread *made)
{
    struct process_thread **at = &threads->all;
    while (*at)
        at = &(*at)->next;
    *at = made;
    made->next = NULL;
}

static void take_out(struct process_thread *self)
{
    struct process_thread **at = &self->process->threads->all;
    while (*at && *at != self)
        at = &(*at)->next;
    if (*at)
        *at = self->next;
}

/* --- work in the thread that has the signals ---------------------------------------------------
 */

static void hold(void *context)
{
    struct process_thread *self = context;
    self->result = signals_hold(self->signals);
}

static void resume(void *context)
{
    const struct process_thread *self = context;
    signals_resume(self->signals);
}

static void at_host(struct process_thread *self, process_host_function *function)
{
    if (self->host && !self->process->shares)
        process_host_run(self->host, function, self);
    else
        function(self);
}

bool process_thread_hold(struct process *process)
{
    struct process_thread *self = process_thread_self(process);
    at_host(self, hold);
    return self->result;
}

void process_thread_resume(struct process *process)
{
    at_host(process_thread_self(process), resume);
}

/* Called in the signal handler: interrupts the thread before its next instruction. */
static void noted(void *context)
{
    const struct process_thread *self = context;
    struct process_threads *threads = self->process->threads;
    sem_post(&threads->event);
    if (threads->current == self)
        signals_interrupt(self->signals, threads->executing);
}

/* --- hosts -------------------------------------------------------------------------------------
 */

static bool begin_host(struct process_thread *self)
{
    struct process *process = self->process;
    self->host = process_host_new(process->executor, self->signals, &process->threads->event);
    if (self->host)
        signals_move(self->signals, process_host_number(self->host), noted, self);
    return self->host != NULL;
}

/* Moves the first thread from the executing thread to a host; all signals are held. */
static bool move_first(struct process_thread *first)
{
    if (first->host || first->ended)
        return true;
    if (!begin_host(first))
        return false;
    signals_pass_on(process_host_number(first->host));
    signals_block_others();
    return true;
}

static void pass_back(void *context)
{
    const struct process_thread *self = context;
    signals_block();
    signals_pass_on(self->process->threads->executing);
}

void process_thread_move_back(struct process *process)
{
    struct process_thread *first = process->threads->first;
    process_host_run(first->host, pass_back, first);
    process_host_free(first->host);
    first->host = NULL;
    signals_move(first->signals, 0, NULL, NULL);
    signals_resume(first->signals);
}

/* --- end of a thread ---------------------------------------------------------------------------
 */

static void wake_one(const struct process_thread *self, uint64_t address)
{
    if (process_futex_wake(self->process, address, 1) == 0)
        syscall(SYS_futex, address, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Marks the mutexes that the thread still holds for their next owner, as the kernel does. */
static void leave_robust(const struct process_thread *self, uint64_t entry, uint64_t offset)
{
    struct space *space = self->process->space;
    uint64_t address = (entry & ~(uint64_t)1) + offset;
    uint32_t word;
    if (program_read(space, &word, address, sizeof word) != 0 ||
        (word & FUTEX_TID_MASK) != (uint32_t)self->number)
        return;
    uint32_t left = (word & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
    if (program_write(space, address, &left, sizeof left) == 0 && (word & FUTEX_WAITERS))
        wake_one(self, address);
}

static void walk_robust_list(const struct process_thread *self)
{
    struct space *space = self->process->space;
    uint64_t
        head[ROBUST_BYTES / sizeof(uint64_t)]; /* first entry, offset of the futex, pending entry */
    if (self->robust_size != ROBUST_BYTES ||
        program_read(space, head, self->robust_address, ROBUST_BYTES) != 0)
        return;
    uint64_t entry = head[0];
    for (unsigned i = 0; i < ROBUST_MAX && (entry & ~(uint64_t)1) != self->robust_address; i++) {
        uint64_t next;
        if (program_read(space, &next, entry & ~(uint64_t)1, sizeof next) != 0)
            return;
        if (entry != head[2])
            leave_robust(self, entry, head[1]);
        entry = next;
    }
    if (head[2])
        leave_robust(self, head[2], head[1]);
}

/* Wakes the waiters for the end of the thread. */
static void tell_end(struct process_thread *self)
{
    const int none = 0;
    walk_robust_list(self);
    if (self->clear_address &&
        program_write(self->process->space, self->clear_address, &none, sizeof none) == 0)
        wake_one(self, self->clear_address);
    self->clear_address = 0;
}

/* Whether no other thread has its processor. */
static bool is_only_user(const struct process_threads *threads, const struct process_thread *self)
{
    bool only = self != threads->first;
    for (const struct process_thread *thread = threads->all; thread; thread = thread->next)
        only = only && (thread == self || thread->processor != self->processor);
    return only;
}

static void leave(void *context)
{
    const struct process_thread *self = context;
    syscall(SYS_set_robust_list, NULL, ROBUST_BYTES);
    signals_leave(self->signals);
}

void process_thread_end(struct process *process)
{
    struct process_thread *self = process_thread_self(process);
    if (!self->host)
        return;
    process_host_run(self->host, leave, self);
    process_host_free(self->host);
    self->host = NULL;
    tell_end(self);
    if (is_only_user(process->threads, self) && process->operations->thread_ended)
        process->operations->thread_ended(process->settings.context, self->processor);
}

void process_thread_free(struct process_thread *self)
{
    take_out(self);
    exec_thread_free(self->thread);
    signals_free(self->signals);
    free(self);
}

/* --- start of a thread -------------------------------------------------------------------------
 */

static struct process_thread *make(struct process *process, const struct process_clone *clone)
{
    struct process_thread *made = calloc(1, sizeof *made);
    struct bt_error error;
    const struct exec_thread *parent = process->thread;
    if (!made)
        return NULL;
    made->process = process;
    made->thread = exec_thread_new(&error);
    made->signals = made->thread ? signals_new_thread(process->signals, made->thread) : NULL;
    if (!made->signals) {
        exec_thread_free(made->thread);
        free(made);
        return NULL;
    }
    struct exec_thread *thread = made->thread;
    memcpy(thread->registers, parent->registers, sizeof thread->registers);
    memcpy(thread->vector, parent->vector, thread->vector_bytes);
    thread->registers[DECODE_RAX] = 0;
    if (clone->stack)
        thread->registers[DECODE_RSP] = clone->stack + clone->stack_size;
    thread->rip = parent->rip;
    thread->flags = parent->flags;
    thread->fs_base = clone->flags & CLONE_SETTLS ? clone->tls : parent->fs_base;
    thread->note_context = made->signals;
    if (clone->flags & CLONE_CHILD_CLEARTID)
        made->clear_address = clone->child_tid;
    return made;
}

int64_t process_thread_clone(struct process *process, const struct process_clone *clone)
{
    struct process_threads *threads = process->threads;
    struct process_thread *made = make(process, clone);
    if (!made)
        return -EAGAIN;
    if (!begin_host(made)) {
        process_thread_free(made);
        return -EAGAIN;
    }
    if (!move_first(threads->first)) {
        process_host_free(made->host);
        process_thread_free(made);
        return -EAGAIN;
    }
    choose_processor(threads, made);
    put_in(threads, made);
    scheduler_count(process);
    /* end the turn: programs rely on a new thread starting soon, as on another processor */
    threads->current->yields = true;
    int number = made->number = process_host_number(made->host);
    process_host_run(made->host, resume, made);
    if (clone->flags & CLONE_PARENT_SETTID)
        program_write(process->space, clone->parent_tid, &number, sizeof number);
    if (clone->flags & CLONE_CHILD_SETTID)
        program_write(process->space, clone->child_tid, &number, sizeof number);
    return number;
}

/* --- other threads -----------------------------------------------------------------------------
 */

void process_threads_forked(struct process *process, const struct process_clone *clone)
{
    struct process_threads *threads = process->threads;
    struct process_thread *self = process_thread_self(process);
    for (struct process_thread *at = threads->all; at; at = at->next)
        process_host_forget(at->host);
    sem_init(&threads->event, 0, 0);
    threads->first = threads->all = self;
    threads->waiting = NULL;
    threads->executing = self->number = (int)syscall(SYS_gettid);
    self->host = NULL;
    self->next = NULL;
    self->processor = 0;
    memset(threads->used, 0, sizeof threads->used);
    threads->used[0] = true;
    self->clear_address = clone->flags & CLONE_CHILD_CLEARTID ? clone->child_tid : 0;
    self->robust_address = self->robust_size = 0;
    executor_switch(process->executor, self->thread, 0);
}

/* The thread with a thread ID, or self for 0. NULL: there is none. */
static const struct process_thread *find_thread(const struct process_thread *self, int number)
{
    const struct process_thread *thread = number ? self->process->threads->all : self;
    while (thread && number && thread->number != number)
        thread = thread->next;
    return thread;
}

static int64_t set_robust_list(struct process_thread *self, const struct system_call *call)
{
    if (call->arguments[1] != ROBUST_BYTES)
        return -EINVAL;
    self->robust_address = call->arguments[0];
    self->robust_size = call->arguments[1];
    return syscall(SYS_set_robust_list, call->arguments[0], call->arguments[1]) == 0 ? 0 : -errno;
}

static int64_t get_robust_list(const struct process_thread *thread, const struct system_call *call)
{
    const uint64_t size = ROBUST_BYTES;
    struct space *space = thread->process->space;
    int64_t result = program_write(space, call->arguments[2], &size, sizeof size);
    return result < 0 ? result
                      : program_write(space, call->arguments[1], &thread->robust_address,
                                      sizeof thread->robust_address);
}

bool process_thread_call(struct process *process, struct system_call *call)
{
    struct process_thread *self = process_thread_self(process);
    const struct process_thread *other;
    switch (call->number) {
    case SYS_set_tid_address:
        self->clear_address = call->arguments[0];
        call->result = self->number;
        return true;
    case SYS_set_robust_list:
        call->result = set_robust_list(self, call);
        return true;
    case SYS_get_robust_list:
        other = find_thread(self, (int)call->arguments[0]);
        if (other)
            call->result = get_robust_list(other, call);
        return other;
    case SYS_prctl:
        if ((uint32_t)call->arguments[0] != PR_GET_TID_ADDRESS)
            return false;
        call->result = program_write(process->space, call->arguments[1], &self->clear_address,
                                     sizeof self->clear_address);
        return true;
    default:
        return false;
    }
}

/* Interrupts a host until it has returned from the kernel. */
static void bring_back(struct process_thread *self)
{
    const struct timespec moment = {0, EXIT_NS};
    while (self->state == PROCESS_CALLING) {
        signals_interrupt(self->signals, process_host_number(self->host));
        nanosleep(&moment, NULL);
        if (!process_host_has_returned(self->host))
            continue;
        scheduler_switch_to(self->process, self);
        if (process_host_resume(self->host))
            self->state = PROCESS_READY;
    }
}

void process_threads_finish(struct process *process)
{
    struct process_threads *threads = process->threads;
    const struct process_end end = process->end;
    for (struct process_thread *at = threads->all, *next; at; at = next) {
        next = at->next;
        if (at->host) {
            bring_back(at);
            process_host_run(at->host, leave, at);
            process_host_free(at->host);
            at->host = NULL;
            walk_robust_list(at); /* other processes may share its mutexes */
        }
    }
    scheduler_switch_to(process, threads->first);
    while (threads->all->next)
        process_thread_free(threads->all->next);
    signals_move(threads->first->signals, 0, NULL, NULL);
    process->end = end;
}
