/*
 * The times at which the iterations of an active loop began, to find the iteration of an earlier
 * access. Iterations of equal length take no memory.
 */
#ifndef CAPTURE_DEPEND_LOOP_HISTORY_H
#define CAPTURE_DEPEND_LOOP_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Iterations `first` to first + count - 1 began at `begun`, begun + length, and so on. */
struct loop_run {
    uint64_t first, count;
    uint64_t begun, length;
};

/* All zero: empty, without memory. */
struct loop_history {
    struct loop_run *runs;
    size_t count, capacity;
    uint64_t iterations; /* number of iterations begun */
    uint64_t expected;   /* time at which another iteration continues the last run;
                            UINT64_MAX: the run has one iteration, any time does */
    /* The iteration that was found last: accesses later than `after`, up to `until`. */
    uint64_t found, after, until;
};

#define LOOP_HISTORY_RUNS 262144u /* maximum: then the older half is forgotten */

/* The loop begins anew, with its first iteration; keeps the memory. 0 or BT_MEMORY. */
int loop_history_begin(struct loop_history *history, uint64_t time);

/* Another iteration begins; `time` does not fall. 0 or BT_MEMORY. */
int loop_history_add_other(struct loop_history *history, uint64_t time);
static inline int loop_history_add(struct loop_history *history, uint64_t time)
{
    struct loop_run *run = &history->runs[history->count - 1];
    if (time != history->expected)
        return loop_history_add_other(history, time);
    history->expected += run->length;
    history->iterations++;
    run->count++;
    return 0;
}

/* How many iterations before the current one an access of this time was. *forgotten is set if it
 * was that many or more, else left alone. The access is younger than the loop's begin. An access
 * belongs to the last iteration that began before its time. */
uint64_t loop_history_distance(struct loop_history *history, uint64_t time, bool *forgotten);

void loop_history_clear(struct loop_history *history);

#endif
