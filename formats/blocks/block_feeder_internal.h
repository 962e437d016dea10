/* Inside the encoder of blocks: runs of blocks that come as words. */
#ifndef FORMATS_BLOCKS_BLOCK_FEEDER_INTERNAL_H
#define FORMATS_BLOCKS_BLOCK_FEEDER_INTERNAL_H

struct block_feeder;

/* NULL: no memory. */
struct block_feeder *block_feeder_new(void);
void block_feeder_free(struct block_feeder *feeder);

#endif
