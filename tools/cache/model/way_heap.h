/* The way with the smallest key of each set. Sets of many ways are heaps. */
#ifndef TOOLS_CACHE_MODEL_WAY_HEAP_H
#define TOOLS_CACHE_MODEL_WAY_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct way_heap;

/* All keys are 0. NULL: out of memory. */
struct way_heap *way_heap_new(uint32_t sets, uint32_t ways);
void way_heap_free(struct way_heap *heap);

uint64_t way_heap_key(const struct way_heap *heap, size_t slot);

/* Changes the key of a way, slot % ways of set slot / ways. */
void way_heap_put(struct way_heap *heap, size_t slot, uint64_t key);

/* The way of a set with the smallest key; keys of a full set differ. */
uint32_t way_heap_first(const struct way_heap *heap, uint32_t set);

#endif
