#include "capture/depend/loop_history.h"

#include "formats/base/error.h"
#include "formats/base/grow.h"

#include <string.h>

/* Appends a run of one iteration. */
static int add_run(struct loop_history *history, uint64_t time)
{
    if (history->count == LOOP_HISTORY_RUNS) {
        history->count /= 2;
        memmove(history->runs, history->runs + history->count,
                history->count * sizeof *history->runs);
    }
    struct loop_run *larger =
        grow_array(history->runs, &history->capacity, history->count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    history->runs = larger;
    larger[history->count++] =
        (struct loop_run){.first = history->iterations, .count = 1, .begun = time};
    history->iterations++;
    history->expected = UINT64_MAX;
    return 0;
}

int loop_history_begin(struct loop_history *history, uint64_t time)
{
    history->count = 0;
    history->iterations = 0;
    history->after = history->until = 0;
    return add_run(history, time);
}

int loop_history_add_other(struct loop_history *history, uint64_t time)
{
    struct loop_run *run = &history->runs[history->count - 1];
    if (run->count > 1)
        return add_run(history, time);
    run->length = time - run->begun;
    run->count = 2;
    history->iterations++;
    history->expected = time + run->length;
    return 0;
}

/* The last run that begins before the time; NULL: none. */
static const struct loop_run *find_run(const struct loop_history *history, uint64_t time)
{
    size_t low = 0, high = history->count;
    for (size_t step = 1; step < high; step *= 2) { /* most accesses are recent */
        if (history->runs[high - step].begun < time) {
            low = high - step;
            break;
        }
        high -= step;
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (history->runs[middle].begun < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &history->runs[low - 1] : NULL;
}

/* Finds the iteration that an access of this time belongs to. */
static void find_iteration(struct loop_history *history, const struct loop_run *run, uint64_t time)
{
    uint64_t within = run->length ? (time - 1 - run->begun) / run->length : run->count - 1;
    if (within >= run->count)
        within = run->count - 1;
    history->found = run->first + within;
    history->after = run->begun + within * run->length;
    history->until = within + 1 < run->count ? history->after + run->length : time;
}

uint64_t loop_history_distance(struct loop_history *history, uint64_t time, bool *forgotten)
{
    const uint64_t current = history->iterations - 1;
    if (time <= history->after || time > history->until) {
        const struct loop_run *run = find_run(history, time);
        *forgotten = !run;
        if (!run)
            return current - history->runs[0].first + 1;
        find_iteration(history, run, time);
    }
    return current - history->found;
}

void loop_history_clear(struct loop_history *history)
{
    free(history->runs);
    *history = (struct loop_history){.runs = NULL};
}
