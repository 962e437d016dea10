#include "capture/exec/process_thread.h"

#include <errno.h>
#include <time.h>

static void use(struct process_thread *self)
{
    struct process *process = self->process;
    if (process->thread == self->thread)
        return;
    process->thread = self->thread;
    process->signals = self->signals;
    executor_switch(process->executor, self->thread, self->processor);
    process_window_switch(process);
}

struct timespec process_turn_slice_end(void)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += PROCESS_SLICE_MS * 1000000L;
    if (end.tv_nsec >= 1000000000L) {
        end.tv_nsec -= 1000000000L;
        end.tv_sec++;
    }
    return end;
}

void process_turn_take(struct process_thread *self)
{
    struct process_threads *threads = self->process->threads;
    pthread_mutex_lock(&threads->mutex);
    uint64_t number = threads->asked++;
    struct timespec end = process_turn_slice_end();
    while (threads->holder || threads->served != number) {
        if (pthread_cond_timedwait(&threads->changed, &threads->mutex, &end) != ETIMEDOUT)
            continue;
        end = process_turn_slice_end();
        if (!threads->holder || threads->served != number || threads->ticked || threads->quiet)
            continue;
        threads->ticked = true;
        signals_tick(threads->holder->signals, threads->holder->number);
    }
    threads->served++;
    signals_forget_tick(self->signals); /* of the process that has forked this one */
    threads->holder = self;
    pthread_mutex_unlock(&threads->mutex);
    use(self);
}

/* An interruption that is under way comes before anything that it should not interrupt. Returns
 * with the mutex locked. */
static void take_tick(struct process_thread *self)
{
    struct process_threads *threads = self->process->threads;
    pthread_mutex_lock(&threads->mutex);
    while (threads->ticked) {
        pthread_mutex_unlock(&threads->mutex);
        signals_take_tick(self->signals);
        pthread_mutex_lock(&threads->mutex);
        threads->ticked = false;
    }
}

void process_turn_give(struct process_thread *self)
{
    struct process_threads *threads = self->process->threads;
    if (!process_thread_is_alone(self->process))
        executor_flush(self->process->executor); /* what comes next is another processor's */
    take_tick(self);
    threads->holder = NULL;
    pthread_cond_broadcast(&threads->changed);
    pthread_mutex_unlock(&threads->mutex);
}

void process_turn_keep(struct process_thread *self, bool quiet)
{
    take_tick(self);
    self->process->threads->quiet = quiet;
    pthread_mutex_unlock(&self->process->threads->mutex);
}

void process_turn_pass(struct process_thread *self)
{
    struct process_threads *threads = self->process->threads;
    pthread_mutex_lock(&threads->mutex);
    bool wanted = threads->asked != threads->served;
    pthread_mutex_unlock(&threads->mutex);
    if (!wanted)
        return;
    process_turn_give(self);
    process_turn_take(self);
}
