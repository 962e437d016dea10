/*
 * A thread that expands entries while the program goes on writing others. It has one piece of work
 * at a time: who has two buffers fills one of them meanwhile. All signals are blocked in it.
 */
#ifndef CAPTURE_EXEC_TRACE_TRACE_WORKER_H
#define CAPTURE_EXEC_TRACE_TRACE_WORKER_H

#include "capture/exec/trace/trace_expand.h"

struct trace_worker;

/* The expander is the caller's, and the worker's alone while it has work. */
struct trace_worker *trace_worker_new(struct trace_expander *expander, struct bt_error *error);

/* Waits for what is still to be done, and ends the thread. */
void trace_worker_free(struct trace_worker *worker);

/* Waits until all is done that was given. 0, or what the first expansion that failed returned. */
int trace_worker_wait(struct trace_worker *worker);

/* Waits, and gives it so many entries, which must stay as they are until the next wait, and were
 * written while fs had this base. After a failure nothing is done any more. */
int trace_worker_give(struct trace_worker *worker, const uint32_t *entries, size_t count,
                      uint64_t fs_base);

#endif
