#include "tools/dcfg/graph/thread_counts.h"

#include "formats/base/quantity.h"
#include "formats/base/saturating.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int thread_choice_add(struct thread_choice *threads, const char *number, struct bt_error *error)
{
    uint64_t thread;
    if (quantity_count(&thread, number, error) < 0)
        return error->code;
    if (thread > UINT32_MAX)
        return bt_fail(error, BT_USAGE, "there is no thread %" PRIu64, thread);
    for (uint32_t i = 0; i < threads->count; i++)
        if (threads->numbers[i] == thread)
            return 0;
    if (threads->count == THREADS_CHOSEN_MAX)
        return bt_fail(error, BT_USAGE, "more than %u threads", THREADS_CHOSEN_MAX);
    threads->numbers[threads->count++] = (uint32_t)thread;
    return 0;
}

/* Sets the numbers of all threads where they are requested, and checks the others. */
static int number_threads(struct thread_choice *threads, uint32_t count, struct bt_error *error)
{
    if (threads->all && count > THREADS_CHOSEN_MAX)
        return bt_fail(error, BT_USAGE,
                       "--by-thread: the graph has %" PRIu32 " threads, choose up to %u with "
                       "--thread",
                       count, THREADS_CHOSEN_MAX);
    for (uint32_t t = 0; threads->all && t < count; t++)
        threads->numbers[t] = t;
    if (threads->all)
        threads->count = count;
    for (uint32_t i = 0; i < threads->count; i++)
        if (threads->numbers[i] >= count)
            return bt_fail(error, BT_USAGE,
                           "--thread: there is no thread %" PRIu32 ", only 0 to %" PRIu32,
                           threads->numbers[i], count > 0 ? count - 1 : 0);
    return 0;
}

/* columns: by thread of the process, 1 + its index among the chosen ones; 0: not chosen. */
static void count(struct thread_counts *counts, const struct dcfg_process *process,
                  const uint32_t *columns)
{
    const uint32_t width = counts->threads.count;
    for (uint32_t e = 0; e < process->edges.count && width > 0; e++) {
        const uint32_t block = dcfg_find_block(process, process->edges.targets[e]);
        struct dcfg_counts edge = dcfg_edge_counts(process, e);
        while (block != DCFG_NONE && dcfg_counts_next(&edge)) {
            const uint32_t column = columns[edge.thread];
            if (column == 0)
                continue;
            uint64_t *sum = &counts->executions[(size_t)block * width + column - 1];
            *sum = saturating_add(*sum, edge.count);
        }
    }
}

int thread_counts_make(struct thread_counts *counts, const struct dcfg_process *process,
                       const struct thread_choice *threads, struct bt_error *error)
{
    *counts = (struct thread_counts){.threads = *threads};
    if (number_threads(&counts->threads, process->threads, error) < 0)
        return error->code;
    const uint32_t width = counts->threads.count;
    const size_t blocks = (size_t)process->block_count + 1;
    uint32_t *columns = calloc((size_t)process->threads + 1, sizeof *columns);
    counts->executions = calloc(blocks * (width + (size_t)1), sizeof *counts->executions);
    int result = 0;
    if (columns && counts->executions) {
        for (uint32_t i = 0; i < width; i++)
            columns[counts->threads.numbers[i]] = i + 1;
        count(counts, process, columns);
    } else {
        result =
            bt_fail(error, BT_MEMORY, "no memory for the counts of %" PRIu32 " threads", width);
    }
    free(columns);
    return result;
}

void thread_counts_clear(struct thread_counts *counts)
{
    free(counts->executions);
    *counts = (struct thread_counts){.executions = NULL};
}

uint64_t thread_counts_of(const struct thread_counts *counts, uint32_t block, uint32_t index)
{
    return counts->executions[(size_t)block * counts->threads.count + index];
}
