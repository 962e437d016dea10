/*
 * Shared by lru_stacks.c and lru_stacks_wide.c: what stacks consist of.
 *
 * A depth (a number of sets) is simulated in one of two forms. The general one has entries of 64
 * bits and examines them one by one. The wide one, for up to LRU_WIDE_WAYS ways on processors with
 * AVX2, has entries of 32 bits and examines a set with vector instructions, without branches.
 */
#ifndef TOOLS_CACHE_MODEL_LRU_STACKS_INTERNAL_H
#define TOOLS_CACHE_MODEL_LRU_STACKS_INTERNAL_H

#include "tools/cache/model/lru_stacks.h"

#define LRU_WIDE_WAYS 16u

#define WHOLE_WRITE  REFERENCE_KINDS /* a write of whole lines, which needs no fill */
#define STACKS_KINDS (REFERENCE_KINDS + 1u)

/* Where a reference to a line found it: its depth, the largest associativity if it was absent, or:
 */
#define FOUND_FIRST                                                                                \
    (LRU_STACKS_DEPTH + 1u) /* on top here, and so with all larger numbers of sets */
#define FOUND_PLACES (LRU_STACKS_DEPTH + 2u)

/* Counts for one number of sets and all caches of one side. */
struct depth_counts {
    uint64_t found[STACKS_KINDS][FOUND_PLACES];
    uint64_t write_backs[LRU_STACKS_DEPTH + 1]; /* by ways */
};

/* A queued reference to one line. A queue is made with one number of sets before the next, so that
 * the entries stay in the host's caches. */
struct waiting {
    uint32_t line; /* address of the line / its size */
    uint16_t bank; /* processor, or 0 if the cache is shared */
    uint16_t kind;
};

#define WAITING_MAX 4096u
#define NO_BANK     UINT16_MAX
#define AHEAD       16u /* a set is prefetched this many references in advance */

/* The caches of one side. */
struct stacks_side {
    struct waiting waiting[WAITING_MAX];
    unsigned waiting_count;
    struct waiting last;              /* the reference before the next */
    bool last_written;                /* its line is dirty in all caches */
    uint8_t *banks[CACHE_PROCESSORS]; /* entries: sets of the first depth, of the second, ... */
    void *memory[CACHE_PROCESSORS];   /* what banks are in */
    struct depth_counts *depths;
    uint64_t split;
    uint64_t write_bytes;
};

/* A number of sets. */
struct stack_depth {
    uint32_t sets, ways;
    size_t offset;        /* of its entries in a bank, in bytes */
    unsigned wide_halves; /* 0: general form; else a set has this many vectors of 8 entries */
};

/*
 * Makes the first count queued references with one number of sets in its wide form. Returns how
 * many references need more sets; these are moved to the front of the queue.
 */
unsigned lru_wide_work(struct stacks_side *side, const struct stack_depth *depth,
                       struct depth_counts *counts, unsigned count);

/* The number of halves of a depth in the wide form, 0 if it cannot have this form. */
unsigned lru_wide_halves(const struct lru_depth *depth, uint32_t line);

/* Bytes of its entries in a bank, whose initial value is zero but for those that lru_wide_clear
 * makes. */
size_t lru_wide_bytes(const struct stack_depth *depth);
void lru_wide_clear(const struct stack_depth *depth, uint8_t *bank);

/* Number of dirty lines of a cache with that many ways. */
uint64_t lru_wide_dirty(const struct stack_depth *depth, const uint8_t *bank, uint32_t ways);

#endif
