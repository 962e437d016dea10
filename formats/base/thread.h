/* Names for threads, as top(1), gdb and the benchmarks show them, and their order of precedence. */
#ifndef FORMATS_BASE_THREAD_H
#define FORMATS_BASE_THREAD_H

/* Names the calling thread; at most 15 characters are kept. Cannot fail in a way that matters. */
void thread_set_name(const char *name);

/* Lets the other threads of the process go before the calling one, where a processor is wanted by
 * several: its nice value is raised by so much. */
void thread_yield_precedence(int nice);

#endif
