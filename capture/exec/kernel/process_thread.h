/*
 * The threads of a process that is executed. One thread of ours executes them all, one at a time,
 * in turns: a turn ends after so many instructions, or when the thread waits, or yields, or ends.
 * The next one is the next that can go on, in the order in which threads began.
 *
 * Once there are several each has a host (process_host.h), which makes its system calls. Waiting
 * for a futex is no call of the kernel then, but done here: whoever waited for longest is woken
 * first. A call that the kernel lets sleep ends the turn; when another thread's call has woken it,
 * it is waited for, so that it can go on from then on. So all turns are the same each time, but for
 * what comes from outside the process.
 */
#ifndef CAPTURE_EXEC_KERNEL_PROCESS_THREAD_H
#define CAPTURE_EXEC_KERNEL_PROCESS_THREAD_H

#include "capture/exec/kernel/process_host.h"
#include "capture/exec/kernel/process_state.h"

#include <time.h>

/* struct clone_args, and by which call it came. */
struct process_clone {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
        set_tid_size, cgroup;
    bool is_clone3;
};

enum process_thread_state {
    PROCESS_READY,
    PROCESS_CALLING, /* its host sleeps in the kernel */
    PROCESS_WAITING  /* for a futex */
};

/* For what a thread waits. */
struct process_wait {
    uint64_t address;
    uint32_t bits; /* of wakers it is woken by those that share one; 0: it waits for a lock (PI) */
    bool timed;
    clockid_t clock;
    struct timespec until;
};

struct process_thread {
    struct process *process;
    struct exec_thread *thread;
    struct signals *signals;
    struct process_host *host; /* NULL: the executing thread */
    int number;                /* that the program knows */
    uint8_t processor;
    struct region_call call; /* of the function whose calls are put */
    enum process_thread_state state;
    bool yields;
    bool signals_others;
    bool at_host;                         /* what is done is done there */
    bool ended;                           /* by itself, */
    int status;                           /* with this */
    uint64_t clear_address;               /* set_tid_address(2); 0: none */
    uint64_t robust_address, robust_size; /* set_robust_list(2) */
    struct process_wait wait;
    struct process_thread *next_waiting;
    struct executor_stop stop; /* what its host does, */
    struct bt_error error;     /* and what comes of it */
    int result;
    struct process_thread *next;
};

struct process_threads {
    struct process_thread *first; /* who called process_run(), or was forked; stays */
    struct process_thread *all;   /* in the order in which they began */
    struct process_thread *current;
    struct process_thread *waiting; /* for futexes, whoever has waited for longest first */
    int executing;                  /* the number of the executing thread */
    sem_t event;                    /* somebody may go on */
    uint64_t rest;                  /* of the turn: instructions beyond the thread's own count */
    uint64_t switches;
    bool kernel_waits; /* for futexes */
};

/* The calling thread is the only one. NULL: no memory. */
struct process_threads *process_threads_new(struct process *process);
void process_threads_free(struct process_threads *threads);

/* The one whose turn it is. */
struct process_thread *process_thread_self(const struct process *process);

/* Whether there are no others. */
bool process_thread_is_alone(const struct process *process);

/* A thread that begins like the one whose turn it is, but for what clone was told. Its number, or a
 * negative errno. */
int64_t process_thread_clone(struct process *process, const struct process_clone *clone);

/* In a child that fork has made: the others are not there, nor what the parent wanted to be told at
 * its end. */
void process_threads_forked(struct process *process, const struct process_clone *clone);

/* The current thread's signals are held, or resumed, where they are (signals.h). */
bool process_thread_hold(struct process *process);
void process_thread_resume(struct process *process);

/* set_tid_address and prctl(PR_GET_TID_ADDRESS), set_robust_list and get_robust_list: what the
 * kernel has there is the host thread's. False: it is none of these, or of another process. */
bool process_thread_call(struct process *process, struct system_call *call);

/* The current one has ended by itself: whoever waits for that is told. Frees what is left of it,
 * which must not be the first one, once it is not the current one any more. */
void process_thread_end(struct process *process);
void process_thread_free(struct process_thread *self);

/* The first one, which has a host, but no others any more, is the executing thread's again. */
void process_thread_move_back(struct process *process);

/* All others are gone, whatever they are in. */
void process_threads_finish(struct process *process);

/* --- turns (process_scheduler.c)
 * --------------------------------------------------------------------
 */

/* What the executor has stopped for is done: by whom it must be, or begun. */
int scheduler_handle(struct process *process, struct executor_stop *stop, struct bt_error *error);

/* Whose turn it is now, after that. Waits until somebody can go on. 0, or what a call that has
 * ended meanwhile came to. */
int scheduler_next(struct process *process, const struct executor_stop *stop,
                   struct bt_error *error);

/* From now on there are turns; the current one's begins. */
void scheduler_count(struct process *process);

/* From now on the executor's limits end turns, too (executor_count_limits). */
void scheduler_count_limits(struct process *process);

/* The executing thread goes on with this one. */
void scheduler_switch_to(struct process *process, struct process_thread *thread);

/* Done here, once there are several threads. False: it is the kernel's. */
bool scheduler_call(struct process *process, struct system_call *call);

/* --- futexes (process_futex.c) -----------------------------------------------------------------
 */

/* Whether somebody outside the process may wait there, or wake. */
bool process_futex_is_shared(struct process *process, const struct system_call *call);

/* futex(2), if it is one that no other process shares; else false. The result can be that the
 * thread waits. */
bool process_futex_call(struct process *process, struct system_call *call);

/* Wakes so many that wait there. How many. */
unsigned process_futex_wake(struct process *process, uint64_t address, unsigned count);

/* Ends waits whose time is over, or that signals interrupt. When the next one's time is over, on
 * CLOCK_MONOTONIC; false: no wait has a time. */
bool process_futex_expire(struct process *process, struct timespec *next);

/* A thread's wait ends with a result. */
void process_futex_end(struct process_thread *thread, int64_t result);

#endif
