#define _GNU_SOURCE /* syscall */
#include "capture/exec/process_thread.h"

#include "capture/exec/decode.h"
#include "capture/exec/program_memory.h"

#include <asm/prctl.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/prctl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROBUST_MAX   2048     /* entries of a list, as the kernel has it */
#define ROBUST_BYTES 24       /* of a list's head */
#define EXIT_NS      1000000L /* between looks whether those that were woken are gone */

/* --- what there is -----------------------------------------------------------------------------
 */

static int begin_lock(struct process_threads *threads)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&threads->mutex, NULL);
    if (pthread_condattr_init(&attributes) != 0)
        return BT_MEMORY;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int result = pthread_cond_init(&threads->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return result == 0 ? 0 : BT_MEMORY;
}

struct process_threads *process_threads_new(struct process *process)
{
    struct process_threads *threads = calloc(1, sizeof *threads);
    struct process_thread *first = calloc(1, sizeof *first);
    if (!threads || !first || begin_lock(threads) != 0) {
        free(threads);
        free(first);
        return NULL;
    }
    first->process = process;
    first->thread = process->thread;
    first->signals = process->signals;
    first->number = (int)syscall(SYS_gettid);
    threads->first = threads->all = threads->holder = first;
    threads->asked = threads->served = 1;
    return threads;
}

void process_threads_free(struct process_threads *threads)
{
    if (!threads)
        return;
    free(threads->first);
    pthread_cond_destroy(&threads->changed);
    pthread_mutex_destroy(&threads->mutex);
    free(threads);
}

struct process_thread *process_thread_self(const struct process *process)
{
    return process->threads->holder;
}

bool process_thread_is_alone(const struct process *process)
{
    return !process->threads->all->next;
}

static void count(struct process_threads *threads, int more)
{
    pthread_mutex_lock(&threads->mutex);
    threads->running += (unsigned)more;
    pthread_cond_broadcast(&threads->changed);
    pthread_mutex_unlock(&threads->mutex);
}

/* The lowest that no other has; with more threads than there are, some share. */
static uint8_t free_processor(const struct process_threads *threads)
{
    bool taken[UINT8_MAX + 1] = {false};
    for (const struct process_thread *thread = threads->all; thread; thread = thread->next)
        taken[thread->processor] = true;
    unsigned processor = 0;
    while (processor < UINT8_MAX && taken[processor])
        processor++;
    return (uint8_t)processor;
}

/* --- the end of one ----------------------------------------------------------------------------
 */

/* What the kernel does with mutexes that a thread still holds: their next owner is told. */
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
        syscall(SYS_futex, address, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void walk_robust_list(const struct process_thread *self)
{
    struct space *space = self->process->space;
    uint64_t head[ROBUST_BYTES / sizeof(uint64_t)]; /* the first, the futex's offset, the pending */
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

/* Whoever waits for it to end goes on. */
static void tell_end(struct process_thread *self)
{
    const int none = 0;
    walk_robust_list(self);
    syscall(SYS_set_robust_list, NULL, ROBUST_BYTES);
    if (self->clear_address &&
        program_write(self->process->space, self->clear_address, &none, sizeof none) == 0)
        syscall(SYS_futex, self->clear_address, FUTEX_WAKE, 1, NULL, NULL, 0);
    self->clear_address = 0;
}

static void take_out(struct process_thread *self)
{
    struct process_thread **at = &self->process->threads->all;
    while (*at && *at != self)
        at = &(*at)->next;
    if (*at)
        *at = self->next;
}

/* gs, too: nothing of ours interrupts it any more. */
static void free_thread(struct process_thread *self, bool bound)
{
    if (bound) {
        exec_thread_stack_free(self->thread);
        syscall(SYS_arch_prctl, ARCH_SET_GS, 0);
    }
    exec_thread_free(self->thread);
    signals_free(self->signals);
    sem_destroy(&self->ready);
    free(self);
}

/* In a child that this one has forked, which it is all of now. */
_Noreturn static void end_child(struct process *process)
{
    process_threads_finish(process);
    if (process->settings.ended)
        process->settings.ended(process->settings.forked_context, &process->end);
    process_exit(&process->end);
}

static void end_thread(struct process_thread *self)
{
    struct process *process = self->process;
    struct process_threads *threads = process->threads;
    if (threads->first == self)
        end_child(process);
    signals_leave(self->signals);
    if (process->ended) /* the first one has to hear of it, whatever it waits for */
        signals_tick(threads->first->signals, threads->first->number);
    else
        tell_end(self);
    executor_flush(process->executor);
    process->thread = NULL; /* the next one may lie where this one was */
    take_out(self);
    process_turn_give(self);
    signals_block();
    free_thread(self, true);
    count(threads, -1);
}

/* --- the beginning of one ----------------------------------------------------------------------
 */

static void *run_thread(void *context)
{
    struct process_thread *self = context;
    struct bt_error error;
    if (exec_thread_bind(self->thread, &error) != 0 ||
        exec_thread_stack_new(self->thread, &error) != 0) {
        sem_post(&self->ready);
        return NULL;
    }
    self->number = (int)syscall(SYS_gettid);
    sem_post(&self->ready);
    process_turn_take(self);
    signals_resume(self->signals);
    process_loop(self->process, self->process->error);
    end_thread(self);
    return NULL;
}

static struct process_thread *make(struct process *process, const struct process_clone *clone)
{
    struct process_thread *made = calloc(1, sizeof *made);
    struct bt_error error;
    const struct exec_thread *parent = process->thread;
    if (!made || sem_init(&made->ready, 0, 0) != 0)
        goto failed;
    made->process = process;
    made->thread = exec_thread_new(&error);
    made->signals = made->thread ? signals_new_thread(process->signals, made->thread) : NULL;
    if (!made->signals) {
        exec_thread_free(made->thread);
        sem_destroy(&made->ready);
        goto failed;
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
failed:
    free(made);
    return NULL;
}

static bool start(struct process_thread *made)
{
    pthread_attr_t attributes;
    pthread_t host;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int result = pthread_create(&host, &attributes, run_thread, made);
    pthread_attr_destroy(&attributes);
    signals_take_back(made->signals);
    if (result != 0)
        return false;
    while (sem_wait(&made->ready) != 0)
        ;
    return made->number != 0;
}

int64_t process_thread_clone(struct process *process, const struct process_clone *clone)
{
    struct process_threads *threads = process->threads;
    struct process_thread *made = make(process, clone);
    if (!made)
        return -EAGAIN;
    made->processor = free_processor(threads);
    made->next = threads->all;
    threads->all = made;
    count(threads, 1);
    if (!start(made)) {
        count(threads, -1);
        take_out(made);
        free_thread(made, false);
        return -EAGAIN;
    }
    int number = made->number;
    if (clone->flags & CLONE_PARENT_SETTID)
        program_write(process->space, clone->parent_tid, &number, sizeof number);
    if (clone->flags & CLONE_CHILD_SETTID)
        program_write(process->space, clone->child_tid, &number, sizeof number);
    return number;
}

/* --- others ------------------------------------------------------------------------------------
 */

void process_threads_forked(struct process *process, const struct process_clone *clone)
{
    struct process_threads *threads = process->threads;
    struct process_thread *self = process_thread_self(process);
    begin_lock(threads);
    threads->first = threads->all = self;
    threads->asked = threads->served = 1;
    threads->ticked = false;
    threads->running = 0;
    self->next = NULL;
    self->number = (int)syscall(SYS_gettid);
    self->processor = 0;
    self->clear_address = clone->flags & CLONE_CHILD_CLEARTID ? clone->child_tid : 0;
    self->robust_address = self->robust_size = 0;
    executor_switch(process->executor, self->thread, 0);
}

/* Another thread of the process by its number, or self for 0. NULL: there is none. */
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

/* By the one whose turn it is. They may be anywhere: in system calls that do not end by themselves.
 */
static void wake_all(struct process *process)
{
    for (struct process_thread *thread = process->threads->all; thread; thread = thread->next)
        if (thread != process->threads->first)
            signals_tick(thread->signals, thread->number);
}

/* Without having ended: until all others have, or somebody ends the process. Looks now and then:
 * glibc's condition variables have lost wake-ups until 2.41 (its bug 25847). */
static void wait_for_others(struct process_threads *threads)
{
    struct process_thread *first = threads->first;
    process_turn_give(first);
    pthread_mutex_lock(&threads->mutex);
    while (threads->running > 0 && !first->process->ended) {
        const struct timespec end = process_turn_slice_end();
        pthread_cond_timedwait(&threads->changed, &threads->mutex, &end);
    }
    pthread_mutex_unlock(&threads->mutex);
    process_turn_take(first);
}

void process_threads_finish(struct process *process)
{
    struct process_threads *threads = process->threads;
    const struct timespec moment = {0, EXIT_NS};
    if (!process->ended)
        tell_end(threads->first);
    if (!process_thread_is_alone(process))
        signals_leave(threads->first->signals);
    if (!process->ended)
        wait_for_others(threads);
    for (bool any = true; any;) {
        wake_all(process);
        process_turn_give(threads->first);
        pthread_mutex_lock(&threads->mutex);
        any = threads->running > 0;
        pthread_mutex_unlock(&threads->mutex);
        if (any)
            nanosleep(&moment, NULL);
        process_turn_take(threads->first);
    }
    if (!process->ended)
        process->end = (struct process_end){.ending = PROCESS_EXITED,
                                            .value = threads->first->status,
                                            .is_child = process->is_child};
    process->ended = true;
}
