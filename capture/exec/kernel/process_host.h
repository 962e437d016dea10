/*
 * Threads of ours that make a program's system calls for it, one for each of its threads once there
 * are several: they have the number, the signal mask and all else that the kernel keeps for a
 * thread. The program's code is executed by one thread of ours alone, the executing one, which has
 * them do their work, and waits meanwhile, but not while the kernel has them sleep.
 */
#ifndef CAPTURE_EXEC_KERNEL_PROCESS_HOST_H
#define CAPTURE_EXEC_KERNEL_PROCESS_HOST_H

#include "capture/exec/dispatch/executor.h"
#include "capture/exec/kernel/signals.h"

#include <semaphore.h>

struct process_host;

typedef void process_host_function(void *context);

/* For signals that are the program's from then on, with all blocked at first. *event is posted
 * whenever it comes back from the kernel. NULL: there can be none. */
struct process_host *process_host_new(struct executor *executor, struct signals *signals,
                                      sem_t *event);

/* Ends it; it has nothing to do. NULL is fine. */
void process_host_free(struct process_host *host);

/* In a child that fork made, where it is not any more. */
void process_host_forget(struct process_host *host);

/* Its number for the kernel. */
int process_host_number(const struct process_host *host);

/* Has it call a function. True: that has returned; false: it sleeps in the kernel, between the
 * function's process_host_before_block() and _after_block(), and is not back before
 * process_host_resume(). */
bool process_host_run(struct process_host *host, process_host_function *function, void *context);
bool process_host_resume(struct process_host *host); /* the same */

/* Whether one that slept is back; settle waits until it is, or sleeps again. */
bool process_host_has_returned(const struct process_host *host);
bool process_host_settle(struct process_host *host);

/* By what it runs, around what may sleep: others may be at work when it is over, and it waits. */
void process_host_before_block(struct process_host *host);
void process_host_after_block(struct process_host *host);

/* Whether what it ran last has been in the kernel so. */
bool process_host_has_blocked(const struct process_host *host);

#endif
