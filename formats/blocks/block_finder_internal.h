/* Inside the encoder of blocks: finds blocks in records. */
#ifndef FORMATS_BLOCKS_BLOCK_FINDER_INTERNAL_H
#define FORMATS_BLOCKS_BLOCK_FINDER_INTERNAL_H

#include "formats/blocks/block_encoder.h"

/* The finder's hash table. NULL: no memory. */
uint32_t *block_finder_heads(void);

/* Forgets all templates. */
void block_finder_begin(struct block_encoder *encoder);

/* Adds records as executions of the blocks in them; there is room for an execution and an address
 * each. 0 or BT_MEMORY. */
int block_finder_add(struct block_encoder *encoder, const struct record *records, size_t count);

#endif
