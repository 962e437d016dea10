/*
 * Translates a block of the program: copies its instructions, inserts code that writes their
 * references to the trace, and appends exits to the next block or to the executor.
 */
#ifndef CAPTURE_EXEC_TRANSLATE_TRANSLATE_H
#define CAPTURE_EXEC_TRANSLATE_TRANSLATE_H

#include "capture/exec/translate/code_cache.h"

/* What a block writes into the trace buffer. */
enum exec_trace {
    EXEC_TRACE_NONE,
    EXEC_TRACE_FETCHES,  /* the block's number */
    EXEC_TRACE_ALL,      /* the block's number and the addresses of its data references */
    EXEC_TRACE_OUTCOMES, /* the same, and what conditional instructions have done: outcome.h */
    EXEC_TRACE_VALUES,   /* the same, and the values that instructions define: struct value_slot */
    EXEC_TRACE_COUNT     /* no entries: one byte for each instruction */
};

/* Whether the trace has what conditional instructions have done. */
static inline bool exec_trace_has_outcomes(enum exec_trace trace)
{
    return trace == EXEC_TRACE_OUTCOMES || trace == EXEC_TRACE_VALUES;
}

/* Whether the trace has the addresses of data references. */
static inline bool exec_trace_has_addresses(enum exec_trace trace)
{
    return trace == EXEC_TRACE_ALL || exec_trace_has_outcomes(trace);
}

/* Number of readable bytes of code from an address on; 0: none. */
typedef size_t exec_readable_function(void *context, uint64_t address);

/* Whether code at an address can change without a call of executor_invalidate(). */
typedef bool exec_unseen_function(void *context, uint64_t address);

struct translator;

/* The cache is owned by the caller and outlives the translator. NULL with *error if memory is
 * short. */
struct translator *translator_new(struct code_cache *cache, enum exec_trace trace,
                                  exec_readable_function *readable, void *context,
                                  struct bt_error *error);
void translator_free(struct translator *translator);

/* Blocks of code that may change unseen verify on each entry that it has not, and leave by
 * EXIT_CHANGED if it has. They end after instructions that may write to code. The context is that
 * of `readable`. */
void translator_verify_code(struct translator *translator, exec_unseen_function *unseen);

/* Returns the size of the instruction at `bytes` if a control program defines it, else 0. Blocks
 * end before such an instruction, with EXIT_DEFINED. */
typedef unsigned translator_defined_function(void *context, const uint8_t *bytes, size_t size);
void translator_define(struct translator *translator, translator_defined_function *defined,
                       void *context);

/* The trace that blocks translated after this call write. */
void translator_set_trace(struct translator *translator, enum exec_trace trace);
enum exec_trace translator_trace(const struct translator *translator);

/* Whether blocks translated after this call count their instructions: each subtracts their number
 * from the thread's `turn`, and reads exec_thread_fence(), which faults, if the result is below 0.
 */
void translator_count_turns(struct translator *translator, bool counts);

/* Whether blocks translated after this call end at an instruction that reads the time-stamp
 * counter, with EXIT_TRAP. */
void translator_trap_clock(struct translator *translator, bool traps);

/* Blocks translated after this call end before this address; 0: no breakpoint. */
void translator_set_breakpoint(struct translator *translator, uint64_t address);

/* Returns whether the instruction at an address, with these bytes, has a breakpoint. Blocks
 * translated after this call end before such an instruction; a block that begins with it has
 * `breakpoint` set. NULL: no breakpoints. */
typedef bool translator_breakpoint_function(void *context, uint64_t address, const uint8_t *bytes,
                                            size_t size);
void translator_find_breakpoints(struct translator *translator,
                                 translator_breakpoint_function *find_breakpoint, void *context);

/* The lookup table of the thread that indirect branches of later translated blocks use. */
void translator_set_side(struct translator *translator, unsigned side);

/* Whether code at an address is a file's, and has not changed. */
typedef bool exec_stored_function(void *context, uint64_t address);

/* Takes blocks from a store where `stored` allows it, and adds those that it translates. The store
 * outlives the translator; the context is that of `readable`. */
struct block_store;
void translator_use_store(struct translator *translator, struct block_store *store,
                          exec_stored_function *stored);

/* Translates the block at an address, which must be readable, up to `limit` instructions (0: the
 * maximum of a block). If possible the block spills the same registers as `before`; NULL: it is
 * entered by an indirect branch or from the executor.
 * code_cache_find() finds the block only after code_cache_enter(). NULL: the cache is full.
 */
struct block *translate(struct translator *translator, uint64_t address, unsigned limit,
                        const struct block *before);

/* Without a trace: the code of a block for exec_thread_arrive(), made on the first call. NULL: the
 * cache is full. */
const uint8_t *translate_arrival(struct translator *translator, struct block *block);

#endif
