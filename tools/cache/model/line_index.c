#include "tools/cache/model/line_index.h"

#include <stdlib.h>

/* The hash table is its own: chains of slots, which neither grow nor move. A hash_index takes 10 to
 * 34 % longer (fully associative caches, --classify). Slots are stored plus one: 0 means none, so
 * that untouched pages of memory stay unused. */
struct line_index {
    uint32_t ways;
    unsigned bucket_shift; /* shift of a 32-bit hash */
    uint32_t *buckets;     /* first slot of each chain */
    uint32_t *chain;       /* by slot: next slot of its bucket */
    uint32_t *newer;       /* by slot: neighbour that is evicted later */
    uint32_t *older;       /* by slot: neighbour that is evicted earlier */
    uint32_t *newest;      /* by set: the line that is evicted last */
    uint32_t *oldest;      /* by set: the next victim */
    uint32_t *empty;       /* by set: all ways below this one are occupied */
};

struct line_index *line_index_new(uint32_t sets, uint32_t ways, bool ordered)
{
    struct line_index *index = calloc(1, sizeof *index);
    size_t slots = (size_t)sets * ways;
    unsigned bits = 6;
    if (!index)
        return NULL;
    while (((size_t)1 << bits) < slots)
        bits++;
    index->ways = ways;
    index->bucket_shift = 32 - bits;
    index->buckets = calloc((size_t)1 << bits, sizeof *index->buckets);
    index->chain = calloc(slots, sizeof *index->chain);
    index->empty = calloc(sets, sizeof *index->empty);
    bool good = index->buckets && index->chain && index->empty;
    if (ordered) {
        index->newer = calloc(slots, sizeof *index->newer);
        index->older = calloc(slots, sizeof *index->older);
        index->newest = calloc(sets, sizeof *index->newest);
        index->oldest = calloc(sets, sizeof *index->oldest);
        good = good && index->newer && index->older && index->newest && index->oldest;
    }
    if (!good) {
        line_index_free(index);
        return NULL;
    }
    return index;
}

void line_index_free(struct line_index *index)
{
    if (!index)
        return;
    free(index->buckets);
    free(index->chain);
    free(index->newer);
    free(index->older);
    free(index->newest);
    free(index->oldest);
    free(index->empty);
    free(index);
}

static uint32_t *bucket_of(const struct line_index *index, uint32_t address)
{
    return &index->buckets[(address * 0x9e3779b1u) >> index->bucket_shift];
}

size_t line_index_find(const struct line_index *index, uint32_t address, const uint64_t *entries)
{
    uint32_t slot = *bucket_of(index, address);
    while (slot != 0 && (uint32_t)(entries[slot - 1] >> 32) != address)
        slot = index->chain[slot - 1];
    return slot == 0 ? SIZE_MAX : slot - 1;
}

/* Removes a slot from the order. */
static void unlink_slot(struct line_index *index, size_t slot)
{
    uint32_t newer = index->newer[slot];
    uint32_t older = index->older[slot];
    size_t set = slot / index->ways;
    if (newer)
        index->older[newer - 1] = older;
    else
        index->newest[set] = older;
    if (older)
        index->newer[older - 1] = newer;
    else
        index->oldest[set] = newer;
}

static void link_first(struct line_index *index, size_t slot)
{
    size_t set = slot / index->ways;
    uint32_t old = index->newest[set];
    index->newer[slot] = 0;
    index->older[slot] = old;
    index->newest[set] = (uint32_t)slot + 1;
    if (old)
        index->newer[old - 1] = (uint32_t)slot + 1;
    else
        index->oldest[set] = (uint32_t)slot + 1;
}

void line_index_add(struct line_index *index, size_t slot, uint32_t address)
{
    uint32_t *bucket = bucket_of(index, address);
    index->chain[slot] = *bucket;
    *bucket = (uint32_t)slot + 1;
    if (index->newer)
        link_first(index, slot);
}

void line_index_remove(struct line_index *index, size_t slot, uint32_t address)
{
    uint32_t *link = bucket_of(index, address);
    while (*link != slot + 1)
        link = &index->chain[*link - 1];
    *link = index->chain[slot];
    if (index->newer)
        unlink_slot(index, slot);
}

void line_index_emptied(struct line_index *index, size_t slot)
{
    uint32_t *empty = &index->empty[slot / index->ways];
    uint32_t way = (uint32_t)(slot % index->ways);
    if (way < *empty)
        *empty = way;
}

void line_index_first(struct line_index *index, size_t slot)
{
    if (index->newer[slot] == 0)
        return;
    unlink_slot(index, slot);
    link_first(index, slot);
}

size_t line_index_last(const struct line_index *index, uint32_t set)
{
    return index->oldest[set] ? index->oldest[set] - 1 : SIZE_MAX;
}

size_t line_index_before(const struct line_index *index, size_t slot)
{
    return index->newer[slot] ? index->newer[slot] - 1 : SIZE_MAX;
}

size_t line_index_empty(struct line_index *index, uint32_t set, const uint64_t *entries)
{
    uint32_t *way = &index->empty[set];
    const uint64_t *ways = entries + (size_t)set * index->ways;
    while (*way < index->ways && ways[*way] != 0)
        ++*way;
    return *way < index->ways ? (size_t)set * index->ways + *way : SIZE_MAX;
}
