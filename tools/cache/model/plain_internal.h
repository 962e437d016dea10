/*
 * References to plain caches: LRU, write-back, write-allocate, without sub-blocks, prefetch, victim
 * buffer, inclusion and exclusion; their lines are at most as long as those of the level below.
 */
#ifndef TOOLS_CACHE_MODEL_PLAIN_INTERNAL_H
#define TOOLS_CACHE_MODEL_PLAIN_INTERNAL_H

#include "tools/cache/model/hierarchy_internal.h"
#include "tools/cache/model/optimum.h"

/* The tag that a line is searched by; narrow_tag_of for narrow stores. */
static inline uint64_t tag_of(const struct cache *cache, uint32_t address)
{
    return (uint64_t)cache_line_address(cache, address) << 32 | ENTRY_VALID;
}

static inline uint32_t narrow_tag_of(const struct cache *cache, uint32_t address)
{
    return cache_line_address(cache, address) | NARROW_VALID;
}

/* The number of an address' set, which is the low bits of the line's number. */
static inline uint32_t masked_set(const struct cache *cache, uint32_t address)
{
    return address >> cache->lines.line_shift & cache->lines.set_mask;
}

static inline uint64_t *wide_set(const struct cache *cache, uint32_t address)
{
    return cache->lines.entries + (size_t)masked_set(cache, address) * cache->lines.ways;
}

static inline uint32_t *narrow_set(const struct cache *cache, uint32_t address)
{
    return line_store_narrow_set(&cache->lines, masked_set(cache, address));
}

/* The reference to the optimum's cache, unless it repeats the last one of its set. */
static inline void refer_optimum(struct cache *cache, uint32_t address, enum reference_kind kind)
{
    if (optimum_counts(cache->optimum, address) && !optimum_repeats(cache->optimum, address))
        cache_refer_optimum(cache, address, kind);
}

/* A reference within one line of a plain cache, but for its counter. whole: a write that covers the
 * line. */
void plain_refer_wide(struct cache *cache, uint32_t address, enum reference_kind kind, bool whole);
void plain_refer_narrow(struct cache *cache, uint32_t address, enum reference_kind kind,
                        bool whole);

/* A miss of a plain cache, and its requests to the next level. filled: the line comes from there.
 * The replaced line is written back if it is dirty. */
void plain_miss(struct cache *cache, uint32_t address, enum reference_kind kind, bool filled,
                uint32_t replaced, bool dirty);

#endif
