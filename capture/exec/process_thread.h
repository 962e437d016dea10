/*
 * The threads of a process that is executed, and whose turn it is: one at a time executes, or is in
 * any of what they share; the others wait, or are in system calls of their own. Each has a thread
 * of ours, whose number for the kernel is the program's.
 *
 * Turns are given in the order in which they were asked for. Who waits for longer than a slice has
 * the one at work interrupted, so that nobody who waits for another by looking keeps that one from
 * what it waits for.
 */
#ifndef CAPTURE_EXEC_PROCESS_THREAD_H
#define CAPTURE_EXEC_PROCESS_THREAD_H

#include "capture/exec/process_inside.h"

#include <pthread.h>
#include <semaphore.h>

#define PROCESS_SLICE_MS 10

/* struct clone_args, and by which call it came. */
struct process_clone {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
        set_tid_size, cgroup;
    bool is_clone3;
};

struct process_thread {
    struct process *process;
    struct exec_thread *thread;
    struct signals *signals;
    int number; /* the kernel's */
    uint8_t processor;
    struct window_call call;              /* of the function whose calls are put */
    bool gave;                            /* its turn up, for a system call */
    bool ended;                           /* by itself, */
    int status;                           /* with this */
    uint64_t clear_address;               /* set_tid_address(2); 0: none */
    uint64_t robust_address, robust_size; /* set_robust_list(2) */
    sem_t ready;                          /* it has begun, or will not */
    struct process_thread *next;
};

struct process_threads {
    pthread_mutex_t mutex; /* guards what follows, but for the list; held for moments */
    pthread_cond_t changed;
    struct process_thread *holder; /* whose turn it is; NULL: nobody's */
    uint64_t asked, served;        /* turns */
    bool ticked;                   /* the holder is being interrupted */
    bool quiet;                    /* it is not to be */
    unsigned running;              /* threads of ours but the first */

    /* for the one whose turn it is */
    struct process_thread *first; /* who called process_run(), or was forked */
    struct process_thread *all;
};

/* The calling thread is the only one, and it is its turn. NULL: no memory. */
struct process_threads *process_threads_new(struct process *process);
void process_threads_free(struct process_threads *threads);

/* Waits until it is the turn of the calling thread, which `self` is; until that gives it up. */
void process_turn_take(struct process_thread *self);
void process_turn_give(struct process_thread *self);

/* Nobody interrupts the one whose turn it is, which `self` is; until quiet is taken back. */
void process_turn_keep(struct process_thread *self, bool quiet);

/* Lets others have their turn first, if they wait. */
void process_turn_pass(struct process_thread *self);

/* When a wait that begins now has taken a slice, on CLOCK_MONOTONIC. */
struct timespec process_turn_slice_end(void);

/* The one whose turn it is. */
struct process_thread *process_thread_self(const struct process *process);

/* A thread that begins like the one whose turn it is, but for what clone was told. Its number, or a
 * negative errno. */
int64_t process_thread_clone(struct process *process, const struct process_clone *clone);

/* In a child that fork has made: the others are not there, nor what the parent wanted to be told at
 * its end. */
void process_threads_forked(struct process *process, const struct process_clone *clone);

/* Whether there are others. */
bool process_thread_is_alone(const struct process *process);

/* set_tid_address and prctl(PR_GET_TID_ADDRESS), set_robust_list and get_robust_list: what the
 * kernel has there is the host thread's. False: it is none of these, or of another process. */
bool process_thread_call(struct process *process, struct system_call *call);

/* The first one's: has come to the process's end, or its own; returns when all others are gone, and
 * the process has ended. */
void process_threads_finish(struct process *process);

#endif
