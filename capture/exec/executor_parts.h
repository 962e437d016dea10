/* What the executor and its signal handler share. */
#ifndef CAPTURE_EXEC_EXECUTOR_PARTS_H
#define CAPTURE_EXEC_EXECUTOR_PARTS_H

#include "capture/exec/executor.h"

#include <signal.h>

#define EXECUTOR_SIGNALS 5u

struct executor {
    struct executor_settings settings;
    struct code_cache *cache;
    struct translator *translator;
    struct exec_thread *thread;
    struct trace_expander expander;
    struct bt_error error; /* of put, while translated code runs */
    int result;
    uint64_t records;
    uint64_t limit; /* instructions; 0: none */

    uint8_t *buffer; /* the trace, and behind buffer_bytes of it pages that nobody may touch */

    bool faulted;
    struct executor_stop stop;
    const struct block *fault_block; /* its first instructions were done, */
    unsigned fault_instructions;     /* so many; its entries are at the thread's pointer */

    stack_t signal_stack, old_stack;
    struct sigaction old_actions[EXECUTOR_SIGNALS];
};

/* The signals that instructions raise. */
int executor_signals_begin(struct executor *executor, struct bt_error *error);
void executor_signals_end(struct executor *executor);

/* So few instructions are left to the limit that a full buffer might hold more. */
bool executor_is_near(const struct executor *executor);

/* Nothing goes from block to block without leaving, until it is linked again. */
void executor_unlink(struct executor *executor);

/* Puts the records of all entries up to `end`. */
void executor_consume(struct executor *executor, const uint8_t *end);

#endif
