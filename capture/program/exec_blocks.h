/* The consumer's copies of the blocks that a program executes, from their descriptions. */
#ifndef CAPTURE_PROGRAM_EXEC_BLOCKS_H
#define CAPTURE_PROGRAM_EXEC_BLOCKS_H

#include "capture/exec/trace/trace_expand.h"
#include "capture/program/exec_messages.h"
#include "formats/blocks/block_table.h"

/* All zero: no blocks. */
struct exec_blocks {
    struct code_cache *cache;  /* holds no code; NULL: there are no blocks */
    struct trace_code *code;   /* NULL: blocks are expanded without */
    struct block_table *table; /* the same blocks, to be coded; NULL: only expanded */
    bool feeds;                /* the caller wants a table */
};

void exec_blocks_free(struct exec_blocks *blocks);

/* BT_DEVICE with *error: what the program's process has put cannot be its own. */
int exec_overwritten(struct bt_error *error);

/* Adds the next block: `bytes` bytes of a message from struct exec_block on. 0, or a negative code
 * with *error: memory is short, or the description is damaged. */
int exec_blocks_add(struct exec_blocks *blocks, const void *description, size_t bytes,
                    struct bt_error *error);

/* Forgets all blocks. 0, or BT_MEMORY. */
int exec_blocks_forget(struct exec_blocks *blocks, struct bt_error *error);

#endif
