/*
 * Host threads: threads of bustap that make the system calls of a program with several threads, one
 * for each. They have the thread ID, the signal mask and the other per-thread state of the kernel.
 * The program's code is executed by one thread of bustap, the executing thread; it gives work to
 * the hosts and waits for them, except while they block in the kernel.
 */
#ifndef CAPTURE_EXEC_KERNEL_PROCESS_HOST_H
#define CAPTURE_EXEC_KERNEL_PROCESS_HOST_H

#include "capture/exec/dispatch/executor.h"
#include "capture/exec/kernel/signals.h"

#include <semaphore.h>

struct process_host;

typedef void process_host_function(void *context);

/* With these signals, all blocked at first. *event is posted whenever it returns from the kernel.
 * NULL: no thread can be created. */
struct process_host *process_host_new(struct executor *executor, struct signals *signals,
                                      sem_t *event);

/* Ends an idle host. NULL is fine. */
void process_host_free(struct process_host *host);

/* Frees it in a child that fork made, where its thread does not exist. */
void process_host_forget(struct process_host *host);

/* Its thread ID. */
int process_host_number(const struct process_host *host);

/* Calls a function in the host. True: the function has returned. False: it blocks in the kernel,
 * between process_host_before_block() and process_host_after_block(), and continues after them only
 * with process_host_resume(). */
bool process_host_run(struct process_host *host, process_host_function *function, void *context);
bool process_host_resume(struct process_host *host); /* same results */

/* Whether a host that blocked has returned; settle waits until it has, or blocks again. */
bool process_host_has_returned(const struct process_host *host);
bool process_host_settle(struct process_host *host);

/* Called by its function around a system call that may block. after_block waits for its turn. */
void process_host_before_block(struct process_host *host);
void process_host_after_block(struct process_host *host);

/* Whether its last function has made such a call. */
bool process_host_has_blocked(const struct process_host *host);

#endif
