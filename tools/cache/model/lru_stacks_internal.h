/*
 * Shared by lru_stacks.c and lru_stacks_wide.c: what stacks consist of.
 *
 * A depth (a number of sets) is simulated in one of two forms. The general one has entries of 64
 * bits and examines them one by one. The wide one, for up to LRU_WIDE_WAYS ways of lines of
 * LRU_WIDE_LINE bytes or more on processors with AVX2, has entries of 32 bits and examines a set
 * with vector instructions, without branches: those of AVX-512 (lru_stacks_masked.c) or of AVX2
 * (lru_stacks_wide.c).
 */
#ifndef TOOLS_CACHE_MODEL_LRU_STACKS_INTERNAL_H
#define TOOLS_CACHE_MODEL_LRU_STACKS_INTERNAL_H

#include "tools/cache/model/lru_stacks.h"

#define LRU_WIDE_WAYS 16u
#define LRU_WIDE_LINE 32u

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

/*
 * A queued reference to one line: from the lowest bit on the line's address, in 32 bits, the
 * processor (0 if the cache is shared) and the kind, in 16 each. It is a number, because compilers
 * take structs in registers apart. A write adds WAITING_WRITE to addresses of lines of
 * LRU_WIDE_LINE bytes or more. A queue is made with one number of sets before the next, so that the
 * entries stay in the host's caches.
 */
#define WAITING_WRITE 1u
#define WAITING_BANK  32u
#define WAITING_KIND  48u

static inline unsigned waiting_bank(uint64_t waiting)
{
    return (uint16_t)(waiting >> WAITING_BANK);
}

static inline unsigned waiting_kind(uint64_t waiting)
{
    return (unsigned)(waiting >> WAITING_KIND);
}

#define WAITING_MAX  4096u
#define NO_PROCESSOR UINT16_MAX
#define AHEAD        16u    /* a set is prefetched this many references in advance */
#define NEAR_BYTES   65536u /* sets of a depth that stay in the host's caches: not prefetched */

/* The caches of one side. */
struct stacks_side {
    uint64_t waiting[WAITING_MAX + AHEAD]; /* the sets of the last ones are prefetched only */
    unsigned waiting_count;
    uint8_t *banks[CACHE_PROCESSORS]; /* entries: sets of the first depth, of the second, ... */
    void *memory[CACHE_PROCESSORS];   /* what banks are in */
    struct depth_counts *depths;
    uint64_t split;
    uint64_t write_bytes;
};

/* A number of sets. */
struct stack_depth {
    uint32_t sets, ways;
    size_t offset;     /* of its entries in a bank, in bytes */
    unsigned shift;    /* log2 of the bytes of a line */
    unsigned wide_set; /* 0: general form; else entries of a set, LRU_WIDE_WAYS or half as many */
    bool masked;       /* use AVX-512 */
};

/* A wide entry has the line's address, and in the bits below the line the fewest ways with which
 * the line is dirty, 0 if with none. */
#define WIDE_LEVEL (LRU_WIDE_LINE - 1)

/* Places of a found line in the wide form: depths, the number of ways, and one for FOUND_FIRST. */
#define WIDE_PLACES 32u
#define WIDE_FIRST  (LRU_WIDE_WAYS + 1)

/* Counts of a queue of references. */
struct wide_counts {
    uint32_t found[STACKS_KINDS][WIDE_PLACES];
    uint32_t write_backs[LRU_WIDE_WAYS]; /* with one way, two ... */
};

/* Adds the counts of a queue to those of the depth. */
void lru_wide_add(struct depth_counts *counts, const struct wide_counts *queue, unsigned ways);

/* The set of a reference. size: entries of a set. */
static inline uint32_t *lru_wide_set(uint8_t *const *banks, const struct stack_depth *depth,
                                     unsigned size, uint64_t one)
{
    const uint32_t set = (uint32_t)one >> depth->shift & (depth->sets - 1);
    uint8_t *entries = banks[waiting_bank(one)] + depth->offset;
    return (uint32_t *)(void *)entries + (size_t)set * size;
}

/*
 * Makes the first count queued references with one number of sets in its wide form. Returns how
 * many references need more sets; these are moved to the front of the queue.
 */
unsigned lru_wide_work(struct stacks_side *side, const struct stack_depth *depth,
                       struct depth_counts *counts, unsigned count);

unsigned lru_masked_work(struct stacks_side *side, const struct stack_depth *depth,
                         struct depth_counts *counts, unsigned count);
/* Whether the processor has what lru_masked_work() needs. */
bool lru_masked_can_work(void);

/* Chooses the form of a depth whose sets, ways and shift are set. fastest: the one to use if it is
 * possible. */
void lru_wide_choose(struct stack_depth *depth, enum lru_form fastest);

/* Bytes of its entries in a bank, whose initial value is zero but for those that lru_wide_clear
 * makes. */
size_t lru_wide_bytes(const struct stack_depth *depth);
void lru_wide_clear(const struct stack_depth *depth, uint8_t *bank);

/* Number of dirty lines of a cache with that many ways. */
uint64_t lru_wide_dirty(const struct stack_depth *depth, const uint8_t *bank, uint32_t ways);

#endif
