/*
 * Counts what a running program executes: blocks, and calls with their costs, from the block
 * numbers that translated code writes. Each thread has its own counts and call stack.
 *
 * The stack follows calls and returns by address alone. A return ends the innermost call with that
 * return address and all calls made from there (longjmp, exceptions); a return that matches no call
 * counts as a jump. A jump to another function's start counts as a call that ends with its caller
 * (tail calls, signal handlers); a jump into the middle of an active function returns to it. Stubs
 * (procedure linkage tables) belong to the function that calls through them; the dynamic loader's
 * symbol search ends when it jumps to the function found.
 */
#ifndef TOOLS_PROFILE_PROFILER_H
#define TOOLS_PROFILE_PROFILER_H

#include "capture/exec/trace/trace_expand.h"
#include "formats/base/named_fields.h"
#include "tools/profile/functions.h"

struct NAMED_FIELDS profile_instruction {
    uint32_t address;
    uint8_t size;
    uint8_t reads, writes; /* at each execution */
};

/* References whose number varies between executions. */
struct profile_references {
    uint64_t reads, writes;
};

/* A block as one thread executes it; if only its start is executed, that is another block. */
struct profile_block {
    uint64_t count;
    uint32_t function; /* FUNCTION_NONE: a stub */
    uint16_t instruction_count;
    uint8_t ending; /* private to the profiler */
    uint8_t slots;  /* 0: variable, has to be expanded */
    uint64_t address;
    uint64_t end;                /* end of the last instruction: the return address of calls */
    struct profile_call *latest; /* most recent of its calls, probably also the next one */
    const struct module *module;
    struct profile_instruction *instructions;
    struct profile_references *more; /* by instruction; NULL: none varies */
    struct profile_call *calls;
    /* instructions executed in stubs on behalf of the last instruction */
    uint64_t stub_instructions;
    struct profile_references stub_references;
    struct profile_block *next; /* next block of the thread, in order of first execution */
};

/* Calls from a block to a function, including jumps that count as calls. */
struct profile_call {
    struct profile_block *site;
    uint32_t callee;
    uint64_t count;
    /*
     * instructions between calls and returns; recursive calls add none, the outermost call has them
     */
    uint64_t cost;
    struct profile_call *next; /* next call of the block */
};

struct profile_thread {
    unsigned number;
    uint64_t instructions;
    struct profile_block *blocks;
    size_t block_count;
    uint64_t *inclusive; /* by function, inclusive_count elements: instructions while the function
                            is active, once for recursive calls */
    size_t inclusive_count;
};

struct profiler;

/* The caller owns the functions. NULL and *error without memory. */
struct profiler *profiler_new(struct functions *functions, struct bt_error *error);
void profiler_free(struct profiler *profiler);

/* The callback process_operations.take. References are counted if the trace has them. */
int profiler_take(struct profiler *profiler, struct trace_expander *expander,
                  const uint32_t *entries, size_t count, const struct block *part,
                  unsigned instructions);

/* Stops counting: the process is a child. */
void profiler_stop(struct profiler *profiler);

/* Charges active calls before the threads are inspected; they remain active. */
void profiler_settle(struct profiler *profiler);

unsigned profiler_threads(const struct profiler *profiler);
const struct profile_thread *profiler_thread(const struct profiler *profiler, unsigned number);

#endif
