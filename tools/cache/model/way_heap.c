#include "tools/cache/model/way_heap.h"

#include <stdlib.h>

#define WAYS_SEARCHED 32u /* sets of more ways are heaps */

struct way_heap {
    uint32_t ways;
    uint64_t *keys;    /* by slot */
    uint32_t *heaps;   /* the heaps of set 0, of set 1, ...: ways; NULL: sets are searched */
    uint32_t *indices; /* by slot: its place in the heap of its set */
};

struct way_heap *way_heap_new(uint32_t sets, uint32_t ways)
{
    struct way_heap *heap = calloc(1, sizeof *heap);
    size_t slots = (size_t)sets * ways;
    if (!heap)
        return NULL;
    heap->ways = ways;
    heap->keys = calloc(slots, sizeof *heap->keys);
    if (ways > WAYS_SEARCHED) {
        heap->heaps = malloc(slots * sizeof *heap->heaps);
        heap->indices = malloc(slots * sizeof *heap->indices);
    }
    if (!heap->keys || (ways > WAYS_SEARCHED && (!heap->heaps || !heap->indices))) {
        way_heap_free(heap);
        return NULL;
    }
    for (size_t slot = 0; heap->heaps && slot < slots; slot++)
        heap->heaps[slot] = heap->indices[slot] = (uint32_t)(slot % ways);
    return heap;
}

void way_heap_free(struct way_heap *heap)
{
    if (!heap)
        return;
    free(heap->keys);
    free(heap->heaps);
    free(heap->indices);
    free(heap);
}

uint64_t way_heap_key(const struct way_heap *heap, size_t slot)
{
    return heap->keys[slot];
}

static void place(struct way_heap *heap, size_t first, uint32_t index, uint32_t way)
{
    heap->heaps[first + index] = way;
    heap->indices[first + way] = index;
}

static void sift_up(struct way_heap *heap, size_t first, uint32_t index, uint32_t way)
{
    const uint64_t *keys = heap->keys + first;
    while (index > 0 && keys[heap->heaps[first + (index - 1) / 2]] > keys[way]) {
        place(heap, first, index, heap->heaps[first + (index - 1) / 2]);
        index = (index - 1) / 2;
    }
    place(heap, first, index, way);
}

static void sift_down(struct way_heap *heap, size_t first, uint32_t index, uint32_t way)
{
    const uint64_t *keys = heap->keys + first;
    const uint32_t *ways = heap->heaps + first;
    for (uint32_t child; (child = 2 * index + 1) < heap->ways; index = child) {
        if (child + 1 < heap->ways && keys[ways[child + 1]] < keys[ways[child]])
            child++;
        if (keys[ways[child]] >= keys[way])
            break;
        place(heap, first, index, ways[child]);
    }
    place(heap, first, index, way);
}

void way_heap_put(struct way_heap *heap, size_t slot, uint64_t key)
{
    uint64_t old = heap->keys[slot];
    heap->keys[slot] = key;
    if (!heap->heaps)
        return;
    uint32_t way = (uint32_t)(slot % heap->ways);
    if (key < old)
        sift_up(heap, slot - way, heap->indices[slot], way);
    else
        sift_down(heap, slot - way, heap->indices[slot], way);
}

uint32_t way_heap_first(const struct way_heap *heap, uint32_t set)
{
    const uint64_t *keys = heap->keys + (size_t)set * heap->ways;
    uint32_t first = 0;
    if (heap->heaps)
        return heap->heaps[(size_t)set * heap->ways];
    for (uint32_t way = 1; way < heap->ways; way++)
        if (keys[way] < keys[first])
            first = way;
    return first;
}
