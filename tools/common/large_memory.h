/* Zeroed memory for large tables with random access. Large blocks use large pages and grow in
 * place, so that growth does not need the old and the new block at the same time. */
#ifndef TOOLS_COMMON_LARGE_MEMORY_H
#define TOOLS_COMMON_LARGE_MEMORY_H

#include <stddef.h>

/*
 * Grows a block from old_size bytes (NULL and 0: a new one) to new_size >= old_size; the added
 * bytes are zero. Returns the block, which may have moved, or NULL without memory; the old block is
 * then unchanged.
 */
void *large_memory_grow(void *memory, size_t old_size, size_t new_size);

/* Frees a block. memory may be NULL. */
void large_memory_free(void *memory, size_t size);

#endif
