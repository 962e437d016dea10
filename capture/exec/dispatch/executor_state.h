/* State of the executor, shared with its signal handler. */
#ifndef CAPTURE_EXEC_DISPATCH_EXECUTOR_STATE_H
#define CAPTURE_EXEC_DISPATCH_EXECUTOR_STATE_H

#include "capture/exec/dispatch/executor.h"

#include "capture/exec/dispatch/breakpoints.h"

#include <signal.h>

#define EXECUTOR_SIGNALS 5u

/* A code cache with its translator. With `keeps` an executor has three: for a trace, for none, and
 * for EXEC_TRACE_COUNT. */
struct executor_side {
    struct code_cache *cache; /* NULL: unused side */
    struct translator *translator;
    struct breakpoints breakpoints; /* added by executor_add_breakpoint() */
    unsigned generation;            /* current generation of the lookup tables */
    bool linked;                    /* at least one exit is linked to a block */
};

struct executor {
    struct executor_settings settings;
    struct executor_side sides[EXEC_SIDES];
    unsigned side; /* side in use; the next two are its cache and translator */
    struct code_cache *cache;
    struct translator *translator;
    struct exec_thread *thread;
    struct trace_expander expander;
    struct bt_error error; /* of put() */
    int result;
    uint64_t limit;       /* instructions; 0: none */
    uint64_t breakpoint;  /* an address; 0: none */
    uint64_t reported_at; /* breakpoint at which the last run stopped; 0: none */
    bool counts_turns;
    bool counts_limits; /* executor_count_limits() was called */
    uint64_t ran;       /* instructions of previous runs */
    int64_t turn_begun; /* the thread's turn at the run's begin, cut to the limit */
    int64_t turn_rest;  /* rest of the turn beyond the limit */

    uint64_t fs_base;            /* of the entries in the buffer */
    uint8_t *buffer;             /* the trace: buffer_bytes, then inaccessible guard pages */
    uint64_t before, before_ran; /* and instructions until then */

    bool faulted;        /* a fault or an interruption ended the last block early */
    bool fault_recorded; /* a string instruction faulted after repetitions: its fetch is put */
    bool traps;          /* the program has set its trap flag */
    bool begun;          /* executor_step() has begun a step that the next run completes */
    bool steps;          /* executor_step() is possible with the current settings */
    struct block *const *hash; /* the cache's */
    struct executor_stop stop;
    const struct block *fault_block; /* block of the fault or interruption */
    unsigned fault_instructions;     /* number of its instructions executed; its entries are at the
                                        thread's pointer */

    stack_t signal_stack, old_stack;
    struct sigaction old_actions[EXECUTOR_SIGNALS];
};

/* Installs the handlers of signals that instructions raise; restores the previous ones. */
int executor_signals_begin(struct executor *executor, struct bt_error *error);
void executor_signals_end(struct executor *executor);

/* Handles a signal, for exec_signal_entry(). Returns whether the thread continues with the fs that
 * it had. */
bool exec_signal(int number, void *information, void *context);

/* The executor's operation of that name. executor_fix_fault: false without the operation. */
size_t executor_readable(const struct executor *executor, uint64_t address);
bool executor_fix_fault(const struct executor *executor, uint64_t address, uint32_t access);

/* Whether blocks write a trace, and spill a register for its pointer. */
bool executor_has_pointer(const struct executor *executor);

/* Before and after a run: cuts the thread's turn to the limit, and restores it. */
void executor_turn_begin(struct executor *executor);
void executor_turn_end(struct executor *executor);

/* At the end of such a turn: whether it ended at the limit. */
bool executor_turn_is_limit(const struct executor *executor);

/* Whether a full buffer may hold more instructions than the limit still allows. False after
 * executor_count_limits(). */
bool executor_is_near(struct executor *executor);

/* Unlinks all blocks of the side in use. */
void executor_unlink(struct executor *executor);

/* Enters a block into the tables of the targets of indirect branches. */
void executor_remember(struct executor *executor, struct block *block);

/* Links a new block to those that exist, and without a trace translates what follows it in memory.
 * Only if blocks are linked. */
void executor_continue(struct executor *executor, struct block *block);

/* Saves the program's state before the current instruction of a block into the thread, and stops
 * the run. */
void executor_save(struct executor *executor, const struct block *block, void *context,
                   struct executor_stop stop);

/* Stops an interrupted thread at the next safe point. False: it is stopped, as after
 * executor_save(); true: it single-steps on from where it was. */
bool executor_step_out(struct exec_thread *thread, void *context);

/* A string instruction that has executed some of its repetitions counts as executed: writes its
 * entries as after its end. When it resumes it is fetched again. False: at this offset of the
 * block's code it is no such instruction. */
bool executor_finish_repeated(struct executor *executor, const struct block *block, unsigned offset,
                              const void *context);

/* Index of the PC map entry for an offset in the block's code: the last that begins at or before
 * it. */
unsigned executor_pc_map_find(const struct block *block, unsigned offset);

/* --- the program's trap flag, which is in the thread's flags between runs (executor_single.c) ---
 */

/* Emulates the flag around a block of one instruction, which runs without it. `repetitions` is the
 * number of repetitions left after this one; `back` is the address to repeat the instruction at, or
 * 0. `exit` is the block's exit; NULL: a fault. */
struct executor_single {
    bool on, pushes, pops;
    bool while_equal, while_different; /* repetitions end otherwise */
    uint64_t repetitions;
    uint64_t address, back;
};
void executor_single_begin(struct executor *executor, struct executor_single *single);
void executor_single_end(struct executor *executor, struct executor_single *single,
                         const struct exit *exit);

/* Executes the instruction of an EXIT_EMULATED. False: it was not executed, and `stop` says why. */
bool executor_emulate(struct executor *executor, const struct exit *exit);

/* Replaces x87's instruction pointer in the thread, an address in translated code, with the
 * program's address. The second function also does so in the copy of the environment, for a block
 * whose first instruction stores it. */
void executor_settle_x87(struct executor *executor);
void executor_settle_environment(struct executor *executor, const struct block *block);

/* Whether the target of an indirect branch, in rip, is canonical. False: the branch faults. */
bool executor_can_go(struct executor *executor, const struct exit *exit);

/* --- the trace (executor_trace.c) --------------------------------------------------------------
 */

int executor_trace_new(struct executor *executor, struct bt_error *error);
void executor_trace_free(struct executor *executor);

/* Expands all entries up to `end`. */
void executor_consume(struct executor *executor, const uint8_t *end);

/* Expands all entries up to the thread's pointer. */
void executor_consume_all(struct executor *executor);

/* Also expands the executed instructions of a block that a fault has ended. */
void executor_settle_part(struct executor *executor);

#endif
