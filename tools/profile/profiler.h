/*
 * Counts what a program executes while it runs: blocks, and calls with what they cost, from the
 * numbers of blocks that translated code writes. Each thread has counts and a stack of its own.
 *
 * The stack follows calls and returns by their addresses alone. A return goes to the innermost call
 * that it belongs to, and what was called from there is over, too (longjmp, exceptions); one that
 * belongs to none is a jump. A jump to another function's beginning calls it, and ends when its
 * caller does (tail calls, signal handlers); one into the middle of a function that is at work goes
 * back to that. Stubs (procedure linkage tables) are part of whoever calls through them; the
 * dynamic loader's search for a function ends where it jumps to what it has found.
 */
#ifndef TOOLS_PROFILE_PROFILER_H
#define TOOLS_PROFILE_PROFILER_H

#include "capture/exec/trace/trace_expand.h"
#include "formats/base/named_fields.h"
#include "tools/profile/functions.h"

struct NAMED_FIELDS profile_instruction {
    uint32_t address;
    uint8_t size;
    uint8_t reads, writes; /* of each execution */
};

/* References whose number is not the same each time. */
struct profile_references {
    uint64_t reads, writes;
};

/* A block, as often as the one who counts it met it: its beginning alone is another block. */
struct profile_block {
    uint64_t count;
    uint32_t function; /* FUNCTION_NONE: a stub */
    uint16_t instruction_count;
    uint8_t ending; /* the profiler's */
    uint8_t slots;  /* 0: not known before it is looked at */
    uint64_t address;
    uint64_t end;                /* of the last instruction: where calls return to */
    struct profile_call *latest; /* of its calls: probably the next one, too */
    const struct module *module;
    struct profile_instruction *instructions;
    struct profile_references *more; /* by instruction; NULL: none has more */
    struct profile_call *calls;
    /* what was executed of stubs that it went through: it is its last instruction's */
    uint64_t stub_instructions;
    struct profile_references stub_references;
    struct profile_block *next; /* of the thread's, in the order in which they came */
    struct profile_block *next_at_hash;
};

/* From a block to a function: calls, or jumps that are as good as calls. */
struct profile_call {
    struct profile_block *site;
    uint32_t callee;
    uint64_t count;
    /* instructions from there to the return; none for calls of what was at work already, whose
     * first call has them */
    uint64_t cost;
    struct profile_call *next; /* of the block's */
};

struct profile_thread {
    unsigned number;
    uint64_t instructions;
    struct profile_block *blocks;
    size_t block_count;
    uint64_t *inclusive; /* by function, as many as inclusive_count: instructions while it is at
                            work, counted once however often it calls itself */
    size_t inclusive_count;
};

struct profiler;

/* The functions are the caller's. NULL and *error: no memory. */
struct profiler *profiler_new(struct functions *functions, struct bt_error *error);
void profiler_free(struct profiler *profiler);

/* For process_operations.take. References of blocks are counted if the trace has them. */
int profiler_take(struct profiler *profiler, struct trace_expander *expander,
                  const uint32_t *entries, size_t count, const struct block *part,
                  unsigned instructions);

/* Takes no more: the process is a child. */
void profiler_stop(struct profiler *profiler);

/* Charges what is still at work: before the threads are looked at. It goes on afterwards. */
void profiler_settle(struct profiler *profiler);

unsigned profiler_threads(const struct profiler *profiler);
const struct profile_thread *profiler_thread(const struct profiler *profiler, unsigned number);

#endif
