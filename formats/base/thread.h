/* Names for threads, as top(1), gdb and the benchmarks show them, and their order of precedence. */
#ifndef FORMATS_BASE_THREAD_H
#define FORMATS_BASE_THREAD_H

#include <pthread.h>

/* Names the calling thread; at most 15 characters are kept. Failures are ignored. */
void thread_set_name(const char *name);

/* pthread_create without attributes, for a thread that takes no signals: they are for the program's
 * other threads. 0 or an errno value. */
int thread_start_without_signals(pthread_t *thread, void *(*run)(void *), void *argument);

/* Gives the other threads of the process precedence over the calling one: raises its nice value by
 * nice. */
void thread_yield_precedence(int nice);

/* Lets the calling thread, and those that it starts, run and use disks only when nothing else does:
 * SCHED_IDLE, nice 19, I/O class idle. What the system refuses is left out. */
void thread_run_idle(void);

/* Number of processors on which the calling thread may run, at least 1. */
unsigned thread_processors(void);

#endif
