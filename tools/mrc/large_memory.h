/* Zeroed memory for tables of any size that are read at random: large ones have large pages, and
 * grow where they are, so that growing never needs room for both the old and the new. */
#ifndef TOOLS_MRC_LARGE_MEMORY_H
#define TOOLS_MRC_LARGE_MEMORY_H

#include <stddef.h>

/*
 * Makes new_size bytes of old_size (NULL and 0: of nothing; new_size >= old_size); what is added is
 * zero. Returns the memory, perhaps moved, or NULL where there is none: the old is then as it was.
 */
void *large_memory_grow(void *memory, size_t old_size, size_t new_size);

/* Gives it back. NULL is allowed. */
void large_memory_free(void *memory, size_t size);

#endif
