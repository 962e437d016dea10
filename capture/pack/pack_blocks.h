/*
 * Codes blocks of records in threads, checks each, and hands the members out in order. Consecutive
 * batches share a block where nothing is between them: large blocks compress better.
 */
#ifndef CAPTURE_PACK_PACK_BLOCKS_H
#define CAPTURE_PACK_PACK_BLOCKS_H

#include "formats/capture/capture_file.h"

struct pack_blocks;

/* Takes a member that holds batch. 0 or a negative code. */
typedef int pack_sink(void *context, const struct batch *batch, const uint8_t *member, size_t size,
                      struct bt_error *error);

/*
 * Blocks of up to block_records records of the engine and level, coded by `threads` threads, with 0
 * by the caller's; sink is called in the caller's thread. NULL and *error on failure.
 */
struct pack_blocks *pack_blocks_new(enum record_engine engine, int level, size_t block_records,
                                    unsigned threads, pack_sink *sink, void *context,
                                    struct bt_error *error);
void pack_blocks_free(struct pack_blocks *blocks);

/* Adds a batch as a member had it, with marks in its records. executed: the member coded it as
 * executions of blocks; its records may stay so where that is smaller. 0 or a negative code. */
int pack_blocks_put(struct pack_blocks *blocks, const struct batch *batch, bool executed,
                    struct bt_error *error);

/* Hands out all that was put. 0 or a negative code. */
int pack_blocks_flush(struct pack_blocks *blocks, struct bt_error *error);

#endif
