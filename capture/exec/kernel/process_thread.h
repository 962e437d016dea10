/*
 * The threads of an executed process. One thread of bustap, the executing thread, executes them
 * all, one at a time, in turns. A turn ends after a fixed number of instructions, or when the
 * thread waits, yields or ends. The next runnable thread, in the order of creation, has the next
 * turn.
 *
 * When there are several threads each has a host (process_host.h), which makes its system calls.
 * Waits for a futex are then emulated: the longest waiter is woken first. A call that blocks in the
 * kernel ends the turn. When a call of another thread has woken it, the scheduler waits until it
 * has returned. The sequence of turns is therefore the same in each run, except for external
 * events.
 */
#ifndef CAPTURE_EXEC_KERNEL_PROCESS_THREAD_H
#define CAPTURE_EXEC_KERNEL_PROCESS_THREAD_H

#include "capture/exec/kernel/process_host.h"
#include "capture/exec/kernel/process_state.h"

#include <time.h>

/* struct clone_args, and whether the call is clone3. */
struct process_clone {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
        set_tid_size, cgroup;
    bool is_clone3;
};

enum process_thread_state {
    PROCESS_READY,
    PROCESS_CALLING, /* its host blocks in a system call */
    PROCESS_WAITING  /* for a futex */
};

/* A futex wait. */
struct process_wait {
    uint64_t address;
    uint32_t bits; /* FUTEX_WAIT_BITSET's mask; 0: it waits for a PI lock */
    bool timed;
    clockid_t clock;
    struct timespec until;
};

struct process_thread {
    struct process *process;
    struct exec_thread *thread;
    struct signals *signals;
    struct process_host *host; /* NULL: the executing thread */
    int number;                /* its thread ID, as the program sees it */
    uint8_t processor;
    uint8_t event;      /* enum record_event: what happened to it, not reported yet */
    uint8_t fault_size; /* the instruction that raised a signal, not put yet; 0: none */
    uint64_t fault_address;
    struct region_call call; /* for regions of calls */
    enum process_thread_state state;
    bool yields;
    bool signals_others;
    bool at_host;                         /* the current work runs in the host */
    bool ended;                           /* by exit(2) */
    int status;                           /* its exit status */
    uint64_t clear_address;               /* set_tid_address(2); 0: none */
    uint64_t robust_address, robust_size; /* set_robust_list(2) */
    struct process_wait wait;
    struct process_thread *next_waiting;
    struct executor_stop stop; /* argument of the work of the host */
    struct bt_error error;     /* error of that work */
    int result;
    struct process_thread *next;
};

struct process_threads {
    struct process_thread *first; /* the thread of process_run(), or that forked; never freed */
    struct process_thread *all;   /* in the order of creation */
    struct process_thread *current;
    struct process_thread *waiting; /* for futexes, the longest waiter first */
    int executing;                  /* the thread ID of the executing thread */
    sem_t event;                    /* a thread may have become runnable */
    uint64_t rest;                  /* instructions of the turn beyond the thread's own count */
    uint64_t switches;
    bool used[UINT8_MAX + 1]; /* by processor: a thread has or had this number */
    bool kernel_waits;        /* futex waits are made by the kernel */
};

/* With the calling thread as the only one. NULL: no memory. */
struct process_threads *process_threads_new(struct process *process);
void process_threads_free(struct process_threads *threads);

/* The thread whose turn it is. */
struct process_thread *process_thread_self(const struct process *process);

/* Whether it is the only thread. */
bool process_thread_is_alone(const struct process *process);

/* Creates a thread as a copy of the current one, with the changes that clone asks for. Its thread
 * ID, or a negative errno. */
int64_t process_thread_clone(struct process *process, const struct process_clone *clone);

/* In a child that fork made: leaves only the current thread, without the parent's clear_child_tid
 * and robust-list addresses. */
void process_threads_forked(struct process *process, const struct process_clone *clone);

/* Notes an event of the current thread; the begin of a thread hides others. report: puts the
 * instruction that raised a signal and reports the event; in the executing thread, before the
 * thread continues or the program ends. */
void process_thread_note(struct process *process, enum record_event event);
void process_thread_report(struct process *process);

/* Hold or resume the current thread's signals, in its host if it has one (signals.h). */
bool process_thread_hold(struct process *process);
void process_thread_resume(struct process *process);

/* Emulates set_tid_address, prctl(PR_GET_TID_ADDRESS), set_robust_list and get_robust_list, whose
 * values in the kernel belong to the host. False: another call, or of another process. */
bool process_thread_call(struct process *process, struct system_call *call);

/* end: wakes the waiters for the end of the current thread. free: frees a thread that is neither
 * the first nor the current one. */
void process_thread_end(struct process *process);
void process_thread_free(struct process_thread *self);

/* Moves the first thread, the only one left, from its host to the executing thread. */
void process_thread_move_back(struct process *process);

/* Ends all other threads, whatever they do. */
void process_threads_finish(struct process *process);

/* --- scheduler (process_scheduler.c) ------------------------------------------------------------
 */

/* Handles the reason why the executor stopped, in the host or here; it may only have started. */
int scheduler_handle(struct process *process, struct executor_stop *stop, struct bt_error *error);

/* Chooses the next thread; waits until one is runnable. 0, or the result of a call that has ended
 * in the meantime. */
int scheduler_next(struct process *process, const struct executor_stop *stop,
                   struct bt_error *error);

/* Starts counting turns, with one of the current thread. */
void scheduler_count(struct process *process);

/* Makes the executor's limits end turns as well (executor_count_limits). */
void scheduler_count_limits(struct process *process);

/* Makes this the current thread. */
void scheduler_switch_to(struct process *process, struct process_thread *thread);

/* Emulates calls that concern the scheduler, when there are several threads. False: another call.
 */
bool scheduler_call(struct process *process, struct system_call *call);

/* --- futexes (process_futex.c) -----------------------------------------------------------------
 */

/* Whether other processes may wait or wake at this futex. */
bool process_futex_is_shared(struct process *process, const struct system_call *call);

/* Emulates futex(2) if no other process shares the futex; else false. The thread may then wait. */
bool process_futex_call(struct process *process, struct system_call *call);

/* Wakes at most count waiters. Returns how many. */
unsigned process_futex_wake(struct process *process, uint64_t address, unsigned count);

/* Ends waits that have timed out or that signals interrupt. Stores the time of the next timeout, on
 * CLOCK_MONOTONIC; false: there is none. */
bool process_futex_expire(struct process *process, struct timespec *next);

/* Ends a thread's wait with a result. */
void process_futex_end(struct process_thread *thread, int64_t result);

#endif
