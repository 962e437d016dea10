/*
 * What sets of many ways need so that no reference searches or moves them: where a line is, the
 * order of replacement as a list (LRU, FIFO), and where the lowest empty way is (random).
 * Slots are those of a line store: ways of set 0, of set 1, ...
 */
#ifndef TOOLS_CACHE_LINE_INDEX_H
#define TOOLS_CACHE_LINE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_index;

/* sets * ways is at most 2^26. ordered: keep the order of replacement. NULL: no memory. */
struct line_index *line_index_new(uint32_t sets, uint32_t ways, bool ordered);
void line_index_free(struct line_index *index);

/* The slot of the line with that address; entries are the store's. SIZE_MAX: it is not there. */
size_t line_index_find(const struct line_index *index, uint32_t address, const uint64_t *entries);

/* Adds the line at a slot, as the last to be replaced. */
void line_index_add(struct line_index *index, size_t slot, uint32_t address);

/* Forgets the line at a slot; line_index_emptied tells that the slot stays empty. */
void line_index_remove(struct line_index *index, size_t slot, uint32_t address);
void line_index_emptied(struct line_index *index, size_t slot);

/* Makes a line the last to be replaced. */
void line_index_first(struct line_index *index, size_t slot);

/* The next to be replaced in a set, and the one after it; SIZE_MAX: none. Ordered ones only. */
size_t line_index_last(const struct line_index *index, uint32_t set);
size_t line_index_before(const struct line_index *index, size_t slot);

/* An empty way of a set, the lowest one; SIZE_MAX: none. */
size_t line_index_empty(struct line_index *index, uint32_t set, const uint64_t *entries);

#endif
