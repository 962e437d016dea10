/* Names for threads, as top(1), gdb and the benchmarks show them, and their order of precedence. */
#ifndef FORMATS_BASE_THREAD_H
#define FORMATS_BASE_THREAD_H

/* Names the calling thread; at most 15 characters are kept. Failures are ignored. */
void thread_set_name(const char *name);

/* Gives the other threads of the process precedence over the calling one: raises its nice value by
 * nice. */
void thread_yield_precedence(int nice);

#endif
