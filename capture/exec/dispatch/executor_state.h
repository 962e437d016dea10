/* What the executor and its signal handler share. */
#ifndef CAPTURE_EXEC_DISPATCH_EXECUTOR_STATE_H
#define CAPTURE_EXEC_DISPATCH_EXECUTOR_STATE_H

#include "capture/exec/dispatch/executor.h"

#include "capture/exec/dispatch/breakpoints.h"

#include <signal.h>

#define EXECUTOR_SIGNALS 5u

/* Translated code: of the program as it is traced, and apart from that without a trace, and of
 * what only counts, where all are kept. */
struct executor_side {
    struct code_cache *cache; /* NULL: there is no such side */
    struct translator *translator;
    struct breakpoints breakpoints; /* runs stop there, too */
    unsigned generation;            /* of the lookups: others are out of date */
    bool linked;                    /* something goes from block to block without leaving */
};

struct executor {
    struct executor_settings settings;
    struct executor_side sides[EXEC_SIDES];
    unsigned side; /* the one in use; these two are its own */
    struct code_cache *cache;
    struct translator *translator;
    struct exec_thread *thread;
    struct trace_expander expander;
    struct bt_error error; /* of put, while translated code runs */
    int result;
    uint64_t limit;       /* instructions; 0: none */
    uint64_t breakpoint;  /* an address; 0: none */
    uint64_t reported_at; /* has stopped here, and not gone on yet; 0: nowhere */
    bool counts_turns;
    bool counts_limits; /* the count of turns counts instructions, too, and holds the limit: */
    uint64_t ran;       /* instructions, but for those of this run; */
    int64_t turn_begun; /* the thread's turn as this run began, up to the limit; */
    int64_t turn_rest;  /* and beyond the limit */

    uint64_t fs_base; /* of the entries in the buffer */
    uint8_t *buffer;  /* the trace, and behind buffer_bytes of it pages that nobody may touch */
    uint8_t *other;   /* what the worker has */
    struct trace_worker *worker; /* expands; NULL: nobody but us */
    struct trace_worker *aside;  /* while suspended: the worker, */
    uint64_t before, before_ran; /* and instructions until then */
    uint64_t given;              /* buffers, since it was last waited for */
    uint64_t counted;            /* instructions before those */

    bool faulted;              /* or interrupted */
    bool traps;                /* translated code has set the program's trap flag */
    bool begun;                /* executor_step() was: the next run goes on */
    bool steps;                /* executor_step() has nothing to look out for */
    struct block *const *hash; /* the cache's */
    struct executor_stop stop;
    const struct block *fault_block; /* its first instructions were done, */
    unsigned fault_instructions;     /* so many; its entries are at the thread's pointer */

    stack_t signal_stack, old_stack;
    struct sigaction old_actions[EXECUTOR_SIGNALS];
};

/* The signals that instructions raise. */
int executor_signals_begin(struct executor *executor, struct bt_error *error);
void executor_signals_end(struct executor *executor);

/* Handles a signal, for exec_signal_entry(). Whether the thread continues with the fs that it had.
 */
bool exec_signal(int number, void *information, void *context);

/* Whether blocks write anything down, and borrow a register for it. */
bool executor_has_pointer(const struct executor *executor);

/* Around a run: the thread's turn ends at the limit, if that comes first. */
void executor_turn_begin(struct executor *executor);
void executor_turn_end(struct executor *executor);

/* At the end of such a turn: whether it has come to the limit. */
bool executor_turn_is_limit(const struct executor *executor);

/* A full buffer may hold more instructions than the limit still allows. Never where turns are
 * counted up to the limit. */
bool executor_is_near(struct executor *executor);

/* Nothing goes from block to block without leaving, until it is linked again. */
void executor_unlink(struct executor *executor);

/* All that is the program's goes into the thread, as it was before the instruction that was at work
 * in a block, and the run stops. */
void executor_save(struct executor *executor, const struct block *block, void *context,
                   struct executor_stop stop);

/* Brings a thread that was interrupted out, at the next place where the program's state is whole
 * (interrupt.c). False: it is out, as after executor_save(); true: it goes on where it was. */
bool executor_step_out(struct exec_thread *thread, void *context);

/* The instruction that was at work: the last that begins at or before an offset in the code. */
unsigned executor_pc_map_find(const struct block *block, unsigned offset);

/* --- the program's trap flag, which is in the thread's flags between runs (executor_single.c) ---
 */

/* Around a block of one instruction that is entered without the flag. What the instruction does
 * with the flag, how often it is to be repeated behind this time, and where it is then: the run
 * goes back there; 0: it does not. `exit` is where the block was left; NULL: it was not. */
struct executor_single {
    bool on, pushes, pops;
    bool while_equal, while_different; /* repetitions end otherwise */
    uint64_t repetitions;
    uint64_t address, back;
};
void executor_single_begin(struct executor *executor, struct executor_single *single);
void executor_single_end(struct executor *executor, struct executor_single *single,
                         const struct exit *exit);

/* The instruction of an EXIT_EMULATED. False: it was not done, and what stops the run is noted. */
bool executor_emulate(struct executor *executor, const struct exit *exit);

/* x87's instruction pointer in the thread becomes the program's, where it is translated code's; the
 * second also in the copy of the environment, for a block that begins with what stores it. */
void executor_settle_x87(struct executor *executor);
void executor_settle_environment(struct executor *executor, const struct block *block);

/* Whether rip may be where an indirect branch goes. False: it was not done, and faults. */
bool executor_can_go(struct executor *executor, const struct exit *exit);

/* --- the trace (executor_trace.c) --------------------------------------------------------------
 */

int executor_trace_new(struct executor *executor, struct bt_error *error);
void executor_trace_free(struct executor *executor);

/* Expands all entries up to `end`, or has it done: then `buffer` is another one. */
void executor_consume(struct executor *executor, const uint8_t *end);

/* All up to the thread's pointer; settle waits until it is done. */
void executor_consume_all(struct executor *executor);
void executor_settle(struct executor *executor);

/* And of the block that was left in its middle those of what was done. */
void executor_settle_part(struct executor *executor);

#endif
