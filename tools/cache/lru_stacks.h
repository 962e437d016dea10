/*
 * All LRU caches of one line size at once: for each number of sets the lines of each set in the
 * order of their last use, to the depth of the most ways that are asked for. A cache with fewer
 * ways holds the upper part of the same order, so that one search counts for all of them.
 *
 * A line that was used last in its set was so, too, in the smaller sets of every larger number of
 * sets: there the search ends. Dirty lines are told by the fewest ways with which the line has
 * stayed in the cache since it was written.
 */
#ifndef TOOLS_CACHE_LRU_STACKS_H
#define TOOLS_CACHE_LRU_STACKS_H

#include "formats/base/named_fields.h"
#include "tools/cache/hierarchy.h"

#define LRU_STACKS_DEPTH 64u /* ways at most */

/* A number of sets, and the most ways that are asked for with it. */
struct NAMED_FIELDS lru_depth {
    uint32_t sets; /* a power of two */
    uint32_t ways;
};

struct lru_stacks_settings {
    uint32_t line;
    bool split;                     /* fetches apart from reads and writes */
    bool shared;                    /* all processors together */
    const struct lru_depth *depths; /* in ascending order of sets; copied */
    unsigned depth_count;
    unsigned part, parts; /* of the sets: lru_stacks_parts_max at most */
};

struct lru_stacks;

/* In how many parts the sets can be divided. */
unsigned lru_stacks_parts_max(const struct lru_stacks_settings *settings);

/* 0 or BT_MEMORY. */
int lru_stacks_new(struct lru_stacks **stacks, const struct lru_stacks_settings *settings,
                   struct bt_error *error);
void lru_stacks_free(struct lru_stacks *stacks);

/* 0 or BT_MEMORY. */
int lru_stacks_put(struct lru_stacks *stacks, const struct record *records, size_t count,
                   struct bt_error *error);

/*
 * What a cache of these sets and ways counts that writes back (or through) and allocates on writes:
 * those of all processors together. flush: dirty lines are written back at the end. Counters of
 * parts are added up.
 */
void lru_stacks_counters(const struct lru_stacks *stacks, uint32_t sets, uint32_t ways,
                         enum cache_side side, bool write_through, bool flush,
                         struct cache_counters *counters);

#endif
