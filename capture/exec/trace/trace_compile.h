/*
 * Expansion of blocks as machine code of its own. A block's records are moved from its template 32
 * bytes at a time, addresses are put in, and the next block's code is jumped to: nothing is asked
 * of a block that is not known when its code is made, and the processor foresees the jumps as well
 * as it foresees the program's.
 *
 * Only for plain references; all else is left to trace_expand.c. Needs AVX2.
 */
#ifndef CAPTURE_EXEC_TRACE_TRACE_COMPILE_H
#define CAPTURE_EXEC_TRACE_TRACE_COMPILE_H

#include "capture/exec/translate/code_cache.h"

struct trace_code;

/* Room for so many bytes of code; NULL where the processor has no AVX2, or memory is short. */
struct trace_code *trace_code_new(size_t bytes, const struct code_cache *cache);
void trace_code_free(struct trace_code *code);

/* Told of executions of blocks that have no code it makes it for those that it often sees, unless
 * they have something that only trace_expand.c knows, or there is no room. */
void trace_code_see(struct trace_code *code, const struct block *block);

/* Forgets all, as the cache's flush does. */
void trace_code_forget(struct trace_code *code);

/* Where an expansion stands. The code knows the offsets. */
struct trace_position {
    const uint32_t *entries, *end;
    struct record *records;
    const struct record *last; /* no block is begun behind it */
    uint64_t instructions;     /* is counted up */
    uint64_t fs_base;
    uint8_t processor;
};

/* Goes on to the end of the entries, to a block that has no code, or until there is no room. Moves
 * whole steps: up to 3 records behind a block's last one are written over. */
void trace_code_run(struct trace_code *code, struct trace_position *position);

#endif
