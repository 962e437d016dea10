/*
 * Simulates all LRU caches of one line size together. For each number of sets it keeps the lines of
 * each set in LRU order, down to the largest associativity requested. A cache with fewer ways holds
 * the upper part of the same order, so that one search counts for all associativities.
 *
 * A line on top of its set is also on top with every larger number of sets; the search ends there.
 * For each line the fewest ways with which it is dirty is kept.
 */
#ifndef TOOLS_CACHE_MODEL_LRU_STACKS_H
#define TOOLS_CACHE_MODEL_LRU_STACKS_H

#include "formats/base/named_fields.h"
#include "tools/cache/model/hierarchy.h"

#define LRU_STACKS_DEPTH 64u /* maximum associativity */

/* A number of sets, and the largest associativity to simulate with it. */
struct NAMED_FIELDS lru_depth {
    uint32_t sets; /* a power of two */
    uint32_t ways;
};

/* How stacks are examined. Each form needs certain processors, and the next is used elsewhere. */
enum lru_form { LRU_MASKED, LRU_WIDE, LRU_GENERAL };

struct lru_stacks_settings {
    uint32_t line;
    bool split;                     /* instruction and data caches */
    bool shared;                    /* one cache for all processors */
    const struct lru_depth *depths; /* in ascending order of sets; copied */
    unsigned depth_count;
    unsigned part, parts;  /* part of the sets; at most lru_stacks_parts_max parts */
    enum lru_form fastest; /* not to use faster forms, as on processors that lack them */
};

struct lru_stacks;

/* Maximum number of parts that the sets can be divided into. */
unsigned lru_stacks_parts_max(const struct lru_stacks_settings *settings);

/* 0 or BT_MEMORY. */
int lru_stacks_new(struct lru_stacks **stacks, const struct lru_stacks_settings *settings,
                   struct bt_error *error);
void lru_stacks_free(struct lru_stacks *stacks);

/* 0 or BT_MEMORY. */
int lru_stacks_put(struct lru_stacks *stacks, const struct record *records, size_t count,
                   struct bt_error *error);

/*
 * Counters of a cache with these sets and ways, write-back (or write-through) and write-allocate,
 * summed over the processors. flush: dirty lines are written back at the end. The caller adds up
 * the parts.
 */
void lru_stacks_counters(const struct lru_stacks *stacks, uint32_t sets, uint32_t ways,
                         enum cache_side side, bool write_through, bool flush,
                         struct cache_counters *counters);

#endif
