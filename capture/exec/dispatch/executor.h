/*
 * Runs translated code of the program from the thread's rip on, until an event that the caller has
 * to handle.
 */
#ifndef CAPTURE_EXEC_DISPATCH_EXECUTOR_H
#define CAPTURE_EXEC_DISPATCH_EXECUTOR_H

#include "capture/exec/trace/trace_expand.h"
#include "capture/exec/translate/code_cache.h"
#include "capture/exec/translate/exec_thread.h"
#include "capture/exec/translate/translate.h"

struct executor;

/* Takes records. Returns 0, or a negative bt_code, which ends the run. Called between the program's
 * instructions, sometimes on a signal stack of 1 MiB. */
typedef int executor_put_function(void *context, struct record *records, size_t count);

/* The number of instructions of all complete executions that take() has received, if it does not
 * add them to expander->instructions. Without limits only: executor_limit(). */
typedef uint64_t executor_count_function(void *context);

/* Handles a fault of a memory access (access: PROT_READ, PROT_WRITE or PROT_EXEC). True: the cause
 * is removed, and the access is retried. Called on the signal stack; may call
 * executor_invalidate(). */
typedef bool executor_fix_fault_function(void *context, uint64_t address, uint32_t access);

/*
 * Handles a signal that no instruction raised, during translated code, other code or a system call.
 * True: the thread's `interrupt` is set and the run stops before the program's next instruction
 * (EXECUTOR_INTERRUPTED); the caller of the run clears `interrupt`. Called on the signal stack,
 * with all signals blocked. The arguments are those of a handler.
 */
typedef bool executor_note_function(void *context, int number, void *information,
                                    void *interrupted);

/* A block was translated; called between the program's instructions. The block is valid during the
 * call. */
typedef void executor_translated_function(void *context, const struct block *block);

/* Callbacks of an executor to its owner. All of them are called with executor_settings.context;
 * note() with the thread's note_context instead, if that is set. */
struct executor_operations {
    exec_readable_function *readable;
    exec_unseen_function *unseen; /* NULL: executor_invalidate() is called whenever code changes */
    executor_put_function *put;   /* may be NULL without a trace */
    trace_take_function *take;    /* called instead of put(), which then receives only fetches of
                                     instructions that faulted, if it is there; NULL: put() */
    executor_count_function *count;           /* NULL: take() counts instructions */
    executor_fix_fault_function *fix_fault;   /* NULL: no fault is fixed */
    executor_note_function *note;             /* NULL: such signals have their default action */
    executor_translated_function *translated; /* NULL: translations are not reported */
};

struct block_store;

/* Default of cache_bytes. */
#define EXECUTOR_CACHE_BYTES ((size_t)64 << 20)

struct executor_settings {
    enum exec_trace trace;
    bool stepping;      /* stops after each branch: executor_set_stepping() */
    size_t cache_bytes; /* of code; 0: EXECUTOR_CACHE_BYTES. Metadata and tables included, up to 5.5
                           times as much and 2 MiB: code_cache_new(), trace_code_new() */
    size_t buffer_bytes; /* of the trace, a multiple of 4096; 0: 256 KiB; with values 16 KiB at
                            least, the entries of any block */
    bool keeps;          /* keeps translated code when the trace changes: executor_set_trace() */
    bool markers;        /* markers of mark.h are breakpoints */
    bool repetitions;    /* trace_expand.h */
    const struct executor_operations *operations; /* owned by the caller */
    void *context;                                /* passed to all operations */
};

enum executor_reason {
    EXECUTOR_BRANCH,      /* stepping: rip is the branch's target */
    EXECUTOR_SYSTEM_CALL, /* rip is after it; rcx and r11 are as the processor sets them */
    EXECUTOR_TRAP,        /* the instruction at rip always raises a signal */
    EXECUTOR_BREAKPOINT,  /* rip is at a breakpoint; the next run executes the instruction */
    EXECUTOR_TURN,        /* the thread's `turn` is 0: executor_count_turns() */
    EXECUTOR_LIMIT,       /* executor_limit() is reached; rip is at the next instruction */
    EXECUTOR_DEFINED,     /* executor_define(): the caller executes the instruction at rip */
    EXECUTOR_REFUSED,     /* the instruction at rip is not supported */
    EXECUTOR_FAULT,       /* the instruction at rip raised a signal and was not executed */
    EXECUTOR_INTERRUPTED  /* by a signal, before the instruction at rip */
};

struct executor_stop {
    enum executor_reason reason;
    int signal;              /* of faults: SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP */
    int code;                /* si_code of the fault */
    uint64_t fault_address;  /* si_addr of the fault */
    uint64_t trap, error;    /* vector and error code of the fault */
    const struct exit *exit; /* of branches: the exit taken; valid until the next run */
};

/* The settings are copied; the caller owns what they point to and frees it after the executor. NULL
 * with *error if memory is short. Free with executor_free(), which accepts NULL. */
struct executor *executor_new(const struct executor_settings *settings, struct bt_error *error);
void executor_free(struct executor *executor);

/* Prepares the calling thread to execute *thread: sets gs, a signal stack, and handlers of the
 * signals that instructions raise. One thread at a time. executor_end() restores stack and
 * handlers. */
int executor_begin(struct executor *executor, struct exec_thread *thread, struct bt_error *error);
void executor_end(struct executor *executor);

/*
 * Between runs: selects the program's thread to run next, and the processor in its records. The
 * caller must be the host thread that *thread is bound to (exec_thread_bind()). The caller
 * serializes the host threads.
 */
void executor_switch(struct executor *executor, struct exec_thread *thread, uint8_t processor);

/* Runs the current thread. All its records have been put when this returns. */
int executor_run(struct executor *executor, struct executor_stop *stop, struct bt_error *error);

/* Whether later runs stop after each branch. Switching stepping on unlinks all blocks, in time
 * proportional to their number. */
void executor_set_stepping(struct executor *executor, bool stepping);

/* Between runs: puts all remaining records. 0, or the error of put(). */
int executor_flush(struct executor *executor);

/* Between runs: puts the fetch of an instruction that was not executed because it faulted, with
 * time 0, if records are put now. */
void executor_put_fault(struct executor *executor, uint64_t address, uint8_t size);

/* Before and after runs of a child that shares this memory: their instructions are not counted, and
 * no records remain. The caller makes put() handle the child's records. */
void executor_suspend(struct executor *executor);
void executor_resume(struct executor *executor);

/*
 * Runs stop with EXECUTOR_LIMIT after exactly this number of instructions since executor_new(); 0:
 * no limit. Only with a trace, which counts them. Near the limit, within the instructions that a
 * trace buffer can hold, runs leave translated code after each block and are slower.
 */
void executor_limit(struct executor *executor, uint64_t instructions);

/*
 * Between runs: sets the trace. EXEC_TRACE_COUNT only counts instructions and puts no records. A
 * change discards translated code; with `keeps` the code for a trace, for none and for counting is
 * kept.
 */
void executor_set_trace(struct executor *executor, enum exec_trace trace);

/* Between runs: sets the breakpoint of executor_set_breakpoint(). Runs stop with
 * EXECUTOR_BREAKPOINT before the instruction at this address; 0: none. */
void executor_set_breakpoint(struct executor *executor, uint64_t address);

/*
 * Between runs without stepping: adds a breakpoint; their number is not limited. With `keeps` the
 * breakpoint applies to the current trace only. executor_clear_breakpoints() removes all added
 * breakpoints and markers, and discards the code with them.
 */
void executor_add_breakpoint(struct executor *executor, uint64_t address);
void executor_clear_breakpoints(struct executor *executor);

/*
 * Executed instructions count down the thread's `turn`, and runs stop with EXECUTOR_TURN when it is
 * 0, before the next instruction. The caller sets `turn`, below 2^32. Discards translated code.
 */
void executor_count_turns(struct executor *executor);

/*
 * The same, and executor_limit() uses that count: code runs at full speed up to the limit, and
 * EXEC_TRACE_COUNT is as fast as no trace. Not with executor_step(). For limits in quick
 * succession.
 */
void executor_count_limits(struct executor *executor);

/* Whether runs stop with EXECUTOR_TRAP before rdtsc and rdtscp. Discards translated code. */
void executor_trap_clock(struct executor *executor, bool traps);

/* Runs stop with EXECUTOR_DEFINED before each instruction that `defined` recognizes. The caller
 * executes it, puts its records, and calls executor_count_one(). Discards translated code. */
void executor_define(struct executor *executor, translator_defined_function *defined,
                     void *context);
void executor_count_one(struct executor *executor);

/* Whether executor_limit() is reached. */
bool executor_is_at_limit(const struct executor *executor);

/* Number of executed instructions, as in the records. Only with a trace, and between runs. */
uint64_t executor_instructions(struct executor *executor);

/* Discards blocks with bytes in [begin, end), after the program's code there has changed. */
void executor_invalidate(struct executor *executor, uint64_t begin, uint64_t end);

struct code_cache *executor_cache(struct executor *executor);

/* Takes translations from a store where `stored`, called with executor_settings.context, allows it,
 * and adds those it makes. The store outlives the executor. */
void executor_use_store(struct executor *executor, struct block_store *store,
                        exec_stored_function *stored);

#endif
