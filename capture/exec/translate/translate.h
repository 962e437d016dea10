/*
 * Translates a block of the program: copies its instructions, with what writes down their
 * references between them, and ends that lead to the next block or out.
 */
#ifndef CAPTURE_EXEC_TRANSLATE_TRANSLATE_H
#define CAPTURE_EXEC_TRANSLATE_TRANSLATE_H

#include "capture/exec/translate/code_cache.h"

/* What a block writes into the trace buffer. */
enum exec_trace {
    EXEC_TRACE_NONE,
    EXEC_TRACE_FETCHES, /* its number */
    EXEC_TRACE_ALL,     /* and where its data references go */
    EXEC_TRACE_COUNT    /* no entries: a byte for each of its instructions */
};

/* Bytes of code from an address on that may be read; 0: none. */
typedef size_t exec_readable_function(void *context, uint64_t address);

/* Whether code at an address can change without anybody being told. */
typedef bool exec_unseen_function(void *context, uint64_t address);

struct translator;

/* The cache is the caller's, and outlives the translator. */
struct translator *translator_new(struct code_cache *cache, enum exec_trace trace,
                                  exec_readable_function *readable, void *context,
                                  struct bt_error *error);
void translator_free(struct translator *translator);

/* Blocks with code that may change unseen look, whenever they are entered, whether it is still what
 * they were made from, and end behind instructions that could change it; EXIT_CHANGED where it is
 * not. The context is readable's. */
void translator_verify_code(struct translator *translator, exec_unseen_function *unseen);

/* The size of the instruction that bytes begin with, of those that somebody else knows, whatever
 * the processor makes of them; 0: none. Blocks end before it, with EXIT_DEFINED. */
typedef unsigned translator_defined_function(void *context, const uint8_t *bytes, size_t size);
void translator_define(struct translator *translator, translator_defined_function *defined,
                       void *context);

/* What blocks that are made from now on write down. */
void translator_set_trace(struct translator *translator, enum exec_trace trace);
enum exec_trace translator_trace(const struct translator *translator);

/* Whether blocks that are made from now on count their instructions: each takes their number from
 * the thread's `turn`, and touches exec_thread_fence() before it does anything if that is below 0
 * then. */
void translator_count_turns(struct translator *translator, bool counts);

/* A block that comes to this address ends in front of it; 0: none does. Of those made from now on.
 */
void translator_set_breakpoint(struct translator *translator, uint64_t address);

/* Whether runs are to stop before the instruction at an address, which begins with these bytes.
 * Blocks that come there end in front of it, and one that begins there has `stops`. NULL: nowhere.
 * Of those made from now on. */
typedef bool translator_breakpoint_function(void *context, uint64_t address, const uint8_t *bytes,
                                            size_t size);
void translator_find_breakpoints(struct translator *translator,
                                 translator_breakpoint_function *find_breakpoint, void *context);

/* By which of a thread's tables indirect branches go. Of blocks made from now on. */
void translator_set_side(struct translator *translator, unsigned side);

/*
 * The block at an address, which must be readable; of `limit` instructions at most (0: as long as
 * blocks are). Where it can it borrows the registers that `before` does (NULL: nobody). The block
 * is in the cache, but code_cache_find() does not see it. NULL: the cache is full.
 */
struct block *translate(struct translator *translator, uint64_t address, unsigned limit,
                        const struct block *before);

#endif
