/*
 * Index for sets of many ways, so that no reference searches or moves them: a hash table of the
 * lines, the order of replacement as a list (LRU, FIFO), and the lowest empty way (random). Slots
 * are those of a line store: the ways of set 0, of set 1, ...
 */
#ifndef TOOLS_CACHE_MODEL_LINE_INDEX_H
#define TOOLS_CACHE_MODEL_LINE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_index;

/* sets * ways is at most 2^26. ordered: keep the order of replacement. NULL: out of memory. */
struct line_index *line_index_new(uint32_t sets, uint32_t ways, bool ordered);
void line_index_free(struct line_index *index);

/* The slot of the line with that address, or SIZE_MAX. entries are the store's. */
size_t line_index_find(const struct line_index *index, uint32_t address, const uint64_t *entries);

/* Adds the line in a slot; it is evicted last. */
void line_index_add(struct line_index *index, size_t slot, uint32_t address);

/* Removes the line in a slot. line_index_emptied marks the slot as empty. */
void line_index_remove(struct line_index *index, size_t slot, uint32_t address);
void line_index_emptied(struct line_index *index, size_t slot);

/* Makes a line the one that is evicted last. */
void line_index_first(struct line_index *index, size_t slot);

/* The next victim of a set, and the one after a given slot; SIZE_MAX: none. For ordered indexes. */
size_t line_index_last(const struct line_index *index, uint32_t set);
size_t line_index_before(const struct line_index *index, size_t slot);

/* The lowest empty way of a set, or SIZE_MAX. */
size_t line_index_empty(struct line_index *index, uint32_t set, const uint64_t *entries);

#endif
