/* Executions of blocks by single threads of a process. */
#ifndef TOOLS_DCFG_GRAPH_THREAD_COUNTS_H
#define TOOLS_DCFG_GRAPH_THREAD_COUNTS_H

#include "formats/dcfg/dcfg.h"

#define THREADS_CHOSEN_MAX 64u

/* Threads to count; zeros: none. */
struct thread_choice {
    bool all;
    uint32_t count;
    uint32_t numbers[THREADS_CHOSEN_MAX];
};

struct thread_counts {
    struct thread_choice threads; /* the numbers of all of them are set */
    uint64_t *executions;         /* by block and index of the thread in threads.numbers */
};

/* Adds a thread, given as text; again the same one changes nothing. 0 or BT_USAGE. */
int thread_choice_add(struct thread_choice *threads, const char *number, struct bt_error *error);

/* Counts executions by these threads, from the edges; sums saturate. 0, BT_MEMORY, or BT_USAGE:
 * there is no such thread, or there are more than THREADS_CHOSEN_MAX. Free with
 * thread_counts_clear. */
int thread_counts_make(struct thread_counts *counts, const struct dcfg_process *process,
                       const struct thread_choice *threads, struct bt_error *error);
void thread_counts_clear(struct thread_counts *counts);

/* Executions of a block by the thread with this index in threads.numbers. */
uint64_t thread_counts_of(const struct thread_counts *counts, uint32_t block, uint32_t index);

#endif
