/* Names for threads, as top(1), gdb and the benchmarks show them. */
#ifndef FORMATS_BASE_THREAD_H
#define FORMATS_BASE_THREAD_H

/* Names the calling thread; at most 15 characters are kept. Cannot fail in a way that matters. */
void thread_set_name(const char *name);

#endif
