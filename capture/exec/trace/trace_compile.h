/*
 * Expands blocks with machine code generated for each block: it copies the block's records from a
 * template, 32 bytes at a time, patches addresses, and jumps to the code of the next block. All
 * decisions about a block are made at generation, and the processor predicts the jumps as well as
 * the program's.
 *
 * Only for plain references; trace_expand.c expands all others. Needs AVX2.
 */
#ifndef CAPTURE_EXEC_TRACE_TRACE_COMPILE_H
#define CAPTURE_EXEC_TRACE_TRACE_COMPILE_H

#include "capture/exec/translate/code_cache.h"

struct trace_code;

/* `bytes` of space for code; NULL: no AVX2, or memory is short. */
struct trace_code *trace_code_new(size_t bytes, const struct code_cache *cache);
void trace_code_free(struct trace_code *code);

/* Counts executions of a block without code, and generates code for a frequent one, unless only
 * trace_expand.c can expand it or the space is used up. */
void trace_code_see(struct trace_code *code, const struct block *block);

/* Discards all code, after a flush of the code cache. */
void trace_code_forget(struct trace_code *code);

/* State of an expansion. The generated code uses the offsets. */
struct trace_position {
    const uint32_t *entries, *end;
    struct record *records;
    const struct record *last; /* no block begins after it */
    uint64_t instructions;     /* incremented by the executed instructions */
    uint64_t fs_base;
    uint8_t processor;
};

/* Expands up to the end of the entries, to a block without code, or until `records` is full.
 * Overwrites up to 3 records after a block's last one. */
void trace_code_run(struct trace_code *code, struct trace_position *position);

#endif
