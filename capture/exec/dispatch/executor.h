/*
 * Runs the program's code, translated: from the thread's rip on until something comes up that
 * others have to do.
 */
#ifndef CAPTURE_EXEC_DISPATCH_EXECUTOR_H
#define CAPTURE_EXEC_DISPATCH_EXECUTOR_H

#include "capture/exec/trace/trace_expand.h"
#include "capture/exec/translate/code_cache.h"
#include "capture/exec/translate/exec_thread.h"
#include "capture/exec/translate/translate.h"

struct executor;

/* Takes records; 0, or a negative bt_code, which ends the run. Called in the middle of the
 * program's instructions, at times on a signal stack of 1 MiB; or by a thread of its own. */
typedef int executor_put_function(void *context, struct record *records, size_t count);

/* A memory access of the program failed (access: PROT_READ, PROT_WRITE or PROT_EXEC): true, it was
 * not the program's mistake, and can be done again. Called on the signal stack; may invalidate. */
typedef bool executor_fix_fault_function(void *context, uint64_t address, uint32_t access);

/*
 * A signal came that no instruction raised, whatever the thread did: translated code, ours, or a
 * system call. True: the run shall stop (EXECUTOR_INTERRUPTED) before the program's next
 * instruction; whoever set it clears the thread's `interrupt`. Called on the signal stack, with
 * all signals blocked; the arguments are a handler's.
 */
typedef bool executor_note_function(void *context, int number, void *information,
                                    void *interrupted);

/* A block was translated; called between the program's instructions. The block is valid during the
 * call. */
typedef void executor_translated_function(void *context, const struct block *block);

struct executor_settings {
    enum exec_trace trace;
    bool stepping;       /* stops behind each branch: executor_set_stepping() */
    size_t cache_bytes;  /* of code; 0: 64 MiB. With all that goes with it five and a half
                            times as much, and 2 MiB: code_cache_new(), trace_code_new() */
    size_t buffer_bytes; /* of the trace, a multiple of 4096; 0: 256 KiB */
    bool keeps;          /* translated code while another trace is set: executor_set_trace() */
    bool markers;        /* of mark.h: runs stop before them, with EXECUTOR_BREAKPOINT */
    bool parallel;       /* records are put, and entries taken, by a thread of their own */
    exec_readable_function *readable;
    exec_unseen_function *unseen; /* NULL: executor_invalidate() is called whenever code changes */
    void *readable_context;       /* of both */
    executor_put_function *put;   /* may be NULL without a trace */
    void *put_context;
    trace_take_function *take; /* in put's place; NULL: put */
    void *take_context;
    executor_fix_fault_function *fix_fault; /* NULL: nothing is ever mended */
    void *fix_fault_context;
    executor_note_function *note; /* NULL: such signals are as if there were no handler */
    void *note_context;
    executor_translated_function *translated; /* NULL: translations are not reported */
    void *translated_context;
};

enum executor_reason {
    EXECUTOR_BRANCH,      /* stepping: rip is where the branch goes */
    EXECUTOR_SYSTEM_CALL, /* rip is behind it; rcx and r11 are as the processor leaves them */
    EXECUTOR_TRAP,        /* the instruction at rip raises a signal by its nature */
    EXECUTOR_BREAKPOINT,  /* executor_set_breakpoint(): rip is there, and a run that begins now goes
                             on */
    EXECUTOR_TURN,        /* the thread's `turn` is 0: executor_count_turns() */
    EXECUTOR_LIMIT,       /* as many instructions as were asked for; rip is at the next */
    EXECUTOR_DEFINED,     /* executor_define(): the instruction at rip is to be done by somebody */
    EXECUTOR_REFUSED,     /* the instruction at rip cannot be done */
    EXECUTOR_FAULT,       /* the instruction at rip was not done: a signal */
    EXECUTOR_INTERRUPTED  /* nothing: the instruction at rip is next */
};

struct executor_stop {
    enum executor_reason reason;
    int signal;              /* of faults: SIGSEGV, SIGBUS, SIGFPE, SIGILL, */
    int code;                /* si_code, */
    uint64_t fault_address;  /* and si_addr, */
    uint64_t trap, error;    /* and what the processor said: vector and error code */
    const struct exit *exit; /* of branches: whence; until the next run */
};

/* The settings are copied; what they point at stays the caller's. NULL with *error where memory is
 * short. Frees with executor_free(), NULL is fine. */
struct executor *executor_new(const struct executor_settings *settings, struct bt_error *error);
void executor_free(struct executor *executor);

/* The calling thread begins to execute *thread: gs, a signal stack, and handlers of the signals
 * that instructions raise. One thread at a time. End takes them back. */
int executor_begin(struct executor *executor, struct exec_thread *thread, struct bt_error *error);
void executor_end(struct executor *executor);

/*
 * Between runs: another thread of the program runs next, with this processor in its records. The
 * calling thread of ours is the one that it was bound to (exec_thread_bind() and _stack_new()).
 * One at a time: the caller sees to it that no two of ours are here.
 */
void executor_switch(struct executor *executor, struct exec_thread *thread, uint8_t processor);

/* Runs the thread that was begun with. All records of what ran have been put when it returns; with
 * `parallel` only once executor_flush() has. */
int executor_run(struct executor *executor, struct executor_stop *stop, struct bt_error *error);

/* Whether runs stop behind each branch from now on. To begin with that sends everything that goes
 * from block to block without leaving back to leaving, and takes as long as there are blocks. */
void executor_set_stepping(struct executor *executor, bool stepping);

/* Waits until all records of what ran have been put; 0, or what put() returned where it failed.
 * Between runs; the end does it, too. */
int executor_flush(struct executor *executor);

/* In a child that fork made after a flush: puts what it runs by itself from now on. */
void executor_forked(struct executor *executor);

/* Around runs of a child that shares our memory: nothing of them is counted, nor left to be put.
 * The caller takes care that put() knows. */
void executor_suspend(struct executor *executor);
void executor_resume(struct executor *executor);

/*
 * Runs stop with EXECUTOR_LIMIT when so many instructions have been executed since the executor was
 * made, not one more; 0: no limit. Only with a trace, which counts them. What a buffer of the trace
 * can hold before the end runs branch by branch, and slower.
 */
void executor_limit(struct executor *executor, uint64_t instructions);

/*
 * Between runs: what is written down from now on. With EXEC_TRACE_COUNT nothing is put,
 * instructions are only counted. All is translated anew, unless nothing changes; with `keeps` what
 * is made for one kind stays: a trace, none, and what counts.
 */
void executor_set_trace(struct executor *executor, enum exec_trace trace);

/* Between runs: they stop with EXECUTOR_BREAKPOINT before the instruction at an address is
 * executed; 0: at none. */
void executor_set_breakpoint(struct executor *executor, uint64_t address);

/*
 * Between runs, which are not stepping: they stop there as well, at however many places. With
 * `keeps` that holds for the kind of trace alone that is set now. Nowhere forgets all these places,
 * markers, and all of that code.
 */
void executor_add_breakpoint(struct executor *executor, uint64_t address);
void executor_clear_breakpoints(struct executor *executor);

/*
 * From now on the thread's `turn` is counted down by what it executes, and runs stop with
 * EXECUTOR_TURN when it is 0, before the next instruction; whoever runs the executor sets it, to
 * less than 2^32. All is translated anew.
 */
void executor_count_turns(struct executor *executor);

/*
 * The same, and executor_limit() holds by that count: code runs at its usual speed up to the limit,
 * however near, and what only counts (EXEC_TRACE_COUNT) is not slower than without a trace. Not
 * with executor_step(). Pays where limits follow one another closely.
 */
void executor_count_limits(struct executor *executor);

/* Instructions that others know: runs stop with EXECUTOR_DEFINED before each. Whoever did it, and
 * put its records, tells that with executor_count_one(). All is translated anew. */
void executor_define(struct executor *executor, translator_defined_function *defined,
                     void *context);
void executor_count_one(struct executor *executor);

/* Whether not one more instruction may be executed: executor_limit(). */
bool executor_is_at_limit(const struct executor *executor);

/* Instructions that were executed; as records have them. Only with a trace, and between runs. */
uint64_t executor_instructions(struct executor *executor);

/* Blocks that hold bytes of [begin, end) were changed, or are gone: they will be made anew. */
void executor_invalidate(struct executor *executor, uint64_t begin, uint64_t end);

struct code_cache *executor_cache(struct executor *executor);

#endif
