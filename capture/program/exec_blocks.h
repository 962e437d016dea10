/* The consumer's copies of the blocks that a program executes, from their descriptions. */
#ifndef CAPTURE_PROGRAM_EXEC_BLOCKS_H
#define CAPTURE_PROGRAM_EXEC_BLOCKS_H

#include "capture/exec/trace/trace_expand.h"
#include "capture/program/exec_messages.h"

/* All zero: no blocks. */
struct exec_blocks {
    struct code_cache *cache; /* holds no code; NULL: there are no blocks */
    struct trace_code *code;  /* NULL: blocks are expanded without */
};

void exec_blocks_free(struct exec_blocks *blocks);

/* Adds the next block: `bytes` bytes of a message from struct exec_block on. 0, or a negative code
 * with *error: memory is short, or the description is damaged. */
int exec_blocks_add(struct exec_blocks *blocks, const void *description, size_t bytes,
                    struct bt_error *error);

/* Forgets all blocks. */
void exec_blocks_forget(struct exec_blocks *blocks);

#endif
