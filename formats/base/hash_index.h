/*
 * A hash index over an array of the caller: finds the numbers of elements by a hash of their keys.
 * The index stores hashes and numbers only; the caller compares keys. Several elements may have the
 * same hash, or even the same key. Elements keep the caller's order; a search takes constant time.
 *
 *     struct hash_search search = hash_search(&index, hash_number(address));
 *     while (hash_search_next(&search))
 *         if (blocks[search.number].address == address)
 *             return &blocks[search.number];
 */
#ifndef FORMATS_BASE_HASH_INDEX_H
#define FORMATS_BASE_HASH_INDEX_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_INDEX_NUMBER_MAX (UINT32_MAX - 1) /* largest number of an element */

/* Must be zeroed before first use; private. */
struct hash_index {
    uint64_t *slots; /* hash << 32 | number + 1; 0: free */
    size_t size;     /* number of slots, a power of two; 0: none allocated */
    size_t count;    /* number of elements */
};

/* The hash of a number. */
static inline uint32_t hash_number(uint64_t number)
{
    return (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* The hash of two numbers: the finalizer of MurmurHash3 of both, the first rotated by 32 bits. */
static inline uint32_t hash_pair(uint64_t first, uint64_t second)
{
    uint64_t mixed = (first << 32 | first >> 32) ^ second;
    mixed = (mixed ^ mixed >> 33) * UINT64_C(0xff51afd7ed558ccd);
    mixed = (mixed ^ mixed >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (uint32_t)(mixed ^ mixed >> 33);
}

/* A search for the elements with one hash. The index must not change meanwhile. */
struct hash_search {
    const uint64_t *slots;
    size_t mask, slot;
    uint32_t hash;
    uint32_t number; /* of the element found */
};

static inline struct hash_search hash_search(const struct hash_index *index, uint32_t hash)
{
    static const uint64_t free_slot;
    return index->slots ? (struct hash_search){index->slots, index->size - 1, hash, hash, 0}
                        : (struct hash_search){&free_slot, 0, 0, hash, 0};
}

/* Finds the next element with the hash, in no particular order. False: there are no more. */
static inline bool hash_search_next(struct hash_search *search)
{
    for (;;) {
        const uint64_t slot = search->slots[search->slot & search->mask];
        search->slot++;
        search->number = (uint32_t)slot - 1;
        if (slot == 0 || slot >> 32 == search->hash)
            return slot != 0;
    }
}

/* Adds an element, up to HASH_INDEX_NUMBER_MAX. 0 or BT_MEMORY; never fails within a reserve. */
int hash_index_add(struct hash_index *index, uint32_t hash, uint32_t number);

/* Allocates slots for `more` new elements. 0 or BT_MEMORY. */
int hash_index_reserve(struct hash_index *index, size_t more);

/* Removes an element, which must be present. */
void hash_index_remove(struct hash_index *index, uint32_t hash, uint32_t number);

/* Gives an element, which must be present, another number. */
void hash_index_renumber(struct hash_index *index, uint32_t hash, uint32_t from, uint32_t to);

/* Removes all elements; keeps the memory. */
void hash_index_empty(struct hash_index *index);

/* Removes all elements and frees the memory. */
void hash_index_clear(struct hash_index *index);

/* Memory of the index in bytes, and that of the one that replaces it if `more` elements are added
 * (0: no growth). */
size_t hash_index_bytes(const struct hash_index *index);
size_t hash_index_growth(const struct hash_index *index, size_t more);

#endif
