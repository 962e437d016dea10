/*
 * Shadow memory: for each byte of a program's memory, who accessed it last and when.
 *
 * Four aligned bytes are a granule of 8 bytes of shadow. Bytes of a granule with different entries
 * are kept apart, in a split, until one access covers the granule again.
 */
#ifndef CAPTURE_DEPEND_SHADOW_H
#define CAPTURE_DEPEND_SHADOW_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHADOW_GRANULE      4u  /* bytes of the program */
#define SHADOW_CHUNK_BITS   16u /* bytes of the program in a chunk, which is allocated at once */
#define SHADOW_CHUNK        (UINT64_C(1) << SHADOW_CHUNK_BITS)
#define SHADOW_ADDRESS_BITS 47u
#define SHADOW_TIME_BITS    40u
#define SHADOW_TIME_MAX     ((UINT64_C(1) << SHADOW_TIME_BITS) - 1)
#define SHADOW_CONTEXT_MAX  ((1u << 24) - 3) /* contexts are 1 to this */

/* Context and time of an access; 0: none. */
typedef uint64_t shadow_entry;

#define SHADOW_SPLIT ((uint32_t)SHADOW_CONTEXT_MAX + 1) /* as a context: the time is a split */
#define SHADOW_LIST                                                                                \
    ((uint32_t)SHADOW_CONTEXT_MAX + 2) /* the time is the number of a list of the caller */

struct shadow_split {
    shadow_entry bytes[SHADOW_GRANULE];
};

struct shadow {
    shadow_entry **chunks; /* by address >> SHADOW_CHUNK_BITS; NULL: no byte has an entry */
    size_t chunk_limit;
    struct shadow_split *splits;
    size_t split_count, split_capacity;
    uint32_t free_split;  /* first of a list through bytes[0]; 0: none; splits[0] is not used */
    shadow_entry *unused; /* zeroed chunks that were forgotten, a list through the first entry */
    uint8_t *arena;       /* rest of the memory for chunks */
    size_t arena_rest;    /* in bytes */
    uint8_t **arenas;     /* all, for shadow_clear() */
    size_t arena_count, arena_capacity;
    size_t chunk_bytes; /* memory of chunks in use */
};

static inline shadow_entry shadow_entry_of(uint32_t context, uint64_t time)
{
    return (shadow_entry)context << SHADOW_TIME_BITS | time;
}

static inline uint32_t shadow_context(shadow_entry entry)
{
    return (uint32_t)(entry >> SHADOW_TIME_BITS);
}

static inline uint64_t shadow_time(shadow_entry entry)
{
    return entry & SHADOW_TIME_MAX;
}

static inline int shadow_is_split(shadow_entry entry)
{
    return shadow_context(entry) == SHADOW_SPLIT;
}

/* Makes an empty shadow of addresses of `address_bits` bits (up to SHADOW_ADDRESS_BITS). 0 or
 * BT_MEMORY; free with shadow_clear(), which accepts an all-zero shadow. */
int shadow_init(struct shadow *shadow, unsigned address_bits, struct bt_error *error);
void shadow_clear(struct shadow *shadow);

/* The granule with a byte; NULL: it has no entry. Granules of a chunk are contiguous. The address
 * is in the shadow's range. */
static inline shadow_entry *shadow_find(const struct shadow *shadow, uint64_t address)
{
    shadow_entry *chunk = shadow->chunks[address >> SHADOW_CHUNK_BITS];
    return chunk ? chunk + (address % SHADOW_CHUNK) / SHADOW_GRANULE : NULL;
}

/* Allocates the chunk of an address. NULL: no memory. */
shadow_entry *shadow_make(struct shadow *shadow, uint64_t address);

/* The same, with a new chunk if necessary. NULL: no memory. */
static inline shadow_entry *shadow_get(struct shadow *shadow, uint64_t address)
{
    shadow_entry *found = shadow_find(shadow, address);
    return found ? found : shadow_make(shadow, address);
}

/* The entries of the bytes of a granule that is split. Valid until another one is split. */
static inline shadow_entry *shadow_bytes_of(const struct shadow *shadow, shadow_entry split)
{
    return shadow->splits[shadow_time(split)].bytes;
}

/* The end of the granule with a byte, or `end` if that is before. */
static inline uint64_t shadow_granule_end(uint64_t address, uint64_t end)
{
    const uint64_t next = address - address % SHADOW_GRANULE + SHADOW_GRANULE;
    return next < end ? next : end;
}

/* The entry of a byte; 0: none. */
static inline shadow_entry shadow_byte(const struct shadow *shadow, uint64_t address)
{
    const shadow_entry *granule = shadow_find(shadow, address);
    if (!granule || !shadow_is_split(*granule))
        return granule ? *granule : 0;
    return shadow_bytes_of(shadow, *granule)[address % SHADOW_GRANULE];
}

/* Whether `size` bytes (1 to 64) have one and the same entry, which is then in *entry. It also
 * returns false where it would take long to tell. */
static inline bool shadow_sole(const struct shadow *shadow, uint64_t address, unsigned size,
                               shadow_entry *entry)
{
    const shadow_entry *granule = shadow_find(shadow, address);
    const uint64_t last = address + size - 1;
    *entry = granule ? *granule : 0;
    if ((address ^ last) >> SHADOW_CHUNK_BITS)
        return false;
    if (!granule)
        return true;
    if (shadow_is_split(*entry)) {
        const shadow_entry *bytes = shadow_bytes_of(shadow, *entry) + address % SHADOW_GRANULE;
        *entry = bytes[0];
        return size == 1 || (size == 2 && address % 2 == 0 && bytes[1] == bytes[0]);
    }
    for (uint64_t i = last / SHADOW_GRANULE - address / SHADOW_GRANULE; i > 0; i--)
        if (granule[i] != *entry)
            return false;
    return true;
}

/* Sets the entry of `size` bytes (1 to 64) where no granule has to be split or made whole for that.
 * False: nothing was set. */
static inline bool shadow_put(struct shadow *shadow, uint64_t address, unsigned size,
                              shadow_entry entry)
{
    shadow_entry *granule = shadow_find(shadow, address);
    const unsigned offset = address % SHADOW_GRANULE, granules = size / SHADOW_GRANULE;
    if (!granule || address % SHADOW_CHUNK + size > SHADOW_CHUNK)
        return false;
    if (size < SHADOW_GRANULE && offset + size <= SHADOW_GRANULE) {
        if (!shadow_is_split(*granule))
            return false;
        for (unsigned i = offset; i < offset + size; i++)
            shadow_bytes_of(shadow, *granule)[i] = entry;
        return true;
    }
    if (offset || size % SHADOW_GRANULE)
        return false;
    for (unsigned i = 0; i < granules; i++)
        if (shadow_is_split(granule[i]))
            return false;
    for (unsigned i = 0; i < granules; i++)
        granule[i] = entry;
    return true;
}

/* Splits a granule that is whole. 0: no memory. */
shadow_entry shadow_split(struct shadow *shadow, shadow_entry entry);

/* Sets the entry of `size` bytes. 0 or BT_MEMORY, with a part of them set. */
int shadow_set(struct shadow *shadow, uint64_t address, uint64_t size, shadow_entry entry);

/* Releases a split, whose granule has got another entry. */
void shadow_release(struct shadow *shadow, shadow_entry split);

/* Forgets the entries of `size` bytes. */
void shadow_forget(struct shadow *shadow, uint64_t address, uint64_t size);

/* Moves the entries of a range to another address, which has none. Both are multiples of
 * SHADOW_GRANULE; the size is rounded up to one. 0 or BT_MEMORY, with a part of them moved. */
int shadow_move(struct shadow *shadow, uint64_t from, uint64_t to, uint64_t size);

/* Memory in bytes. */
size_t shadow_bytes(const struct shadow *shadow);

#endif
