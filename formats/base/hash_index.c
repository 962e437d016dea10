#include "formats/base/hash_index.h"

#include <stdlib.h>
#include <string.h>

#define SIZE_MIN 64u

/* The number of slots, at least half of them free after `more` additions. */
static size_t size_for(const struct hash_index *index, size_t more)
{
    size_t size = index->size ? index->size : SIZE_MIN;
    while (size / 2 < index->count + more)
        size *= 2;
    return size;
}

static void put(struct hash_index *index, uint64_t element)
{
    size_t slot = element >> 32;
    while (index->slots[slot & (index->size - 1)] != 0)
        slot++;
    index->slots[slot & (index->size - 1)] = element;
}

int hash_index_reserve(struct hash_index *index, size_t more)
{
    const size_t size = size_for(index, more);
    if (size == index->size)
        return 0;
    struct hash_index larger = {calloc(size, sizeof *larger.slots), size, index->count};
    if (!larger.slots)
        return BT_MEMORY;
    for (size_t i = 0; i < index->size; i++)
        if (index->slots[i] != 0)
            put(&larger, index->slots[i]);
    free(index->slots);
    *index = larger;
    return 0;
}

int hash_index_add(struct hash_index *index, uint32_t hash, uint32_t number)
{
    if (hash_index_reserve(index, 1) != 0)
        return BT_MEMORY;
    put(index, (uint64_t)hash << 32 | (number + 1));
    index->count++;
    return 0;
}

static size_t slot_of(const struct hash_index *index, uint32_t hash, uint32_t number)
{
    const uint64_t element = (uint64_t)hash << 32 | (number + 1);
    size_t slot = hash & (index->size - 1);
    while (index->slots[slot] != element)
        slot = (slot + 1) & (index->size - 1);
    return slot;
}

void hash_index_remove(struct hash_index *index, uint32_t hash, uint32_t number)
{
    const size_t mask = index->size - 1;
    size_t hole = slot_of(index, hash, number);
    /* move later elements of the probe sequence into the hole, so that searches reach them */
    for (size_t slot = (hole + 1) & mask; index->slots[slot] != 0; slot = (slot + 1) & mask) {
        const size_t home = index->slots[slot] >> 32;
        if (((slot - home) & mask) < ((slot - hole) & mask))
            continue;
        index->slots[hole] = index->slots[slot];
        hole = slot;
    }
    index->slots[hole] = 0;
    index->count--;
}

void hash_index_renumber(struct hash_index *index, uint32_t hash, uint32_t from, uint32_t to)
{
    index->slots[slot_of(index, hash, from)] = (uint64_t)hash << 32 | (to + 1);
}

void hash_index_empty(struct hash_index *index)
{
    if (index->count > 0)
        memset(index->slots, 0, hash_index_bytes(index));
    index->count = 0;
}

void hash_index_clear(struct hash_index *index)
{
    free(index->slots);
    *index = (struct hash_index){.slots = NULL};
}

size_t hash_index_bytes(const struct hash_index *index)
{
    return index->size * sizeof *index->slots;
}

size_t hash_index_growth(const struct hash_index *index, size_t more)
{
    const size_t size = size_for(index, more);
    return size == index->size ? 0 : size * sizeof *index->slots;
}
