/* Inside the encoder of blocks: finds blocks in records. */
#ifndef FORMATS_BLOCKS_BLOCK_FINDER_INTERNAL_H
#define FORMATS_BLOCKS_BLOCK_FINDER_INTERNAL_H

#include <stdint.h>

/* The finder's hash table. NULL: no memory. */
uint32_t *block_finder_heads(void);

#endif
