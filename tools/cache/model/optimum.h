/*
 * The fewest misses that any replacement can have with the references of a cache: Belady's optimum
 * (doc/cache-model.md, "The optimum"), in one pass and without looking ahead. A reuse of a line is
 * a hit if a way was free all the time since its last use; ways are given to reuses in the order in
 * which they end, each the way that was free for the shortest time, which is optimal. Memory is
 * proportional to the lines that may still be hit, not to the number of references.
 */
#ifndef TOOLS_CACHE_MODEL_OPTIMUM_H
#define TOOLS_CACHE_MODEL_OPTIMUM_H

#include "tools/cache/model/hierarchy.h"
#include "tools/cache/model/line_slots.h"
#include "tools/cache/model/set_index.h"

struct optimum_set;

/* Members are private, except to the functions below. */
struct optimum {
    struct set_index index;
    unsigned line_shift;
    bool masked; /* a set is the low bits of the line's number */
    bool bypass;
    bool failed;
    uint32_t ways;            /* that lines can be kept in across a reference to another one */
    struct line_slots slots;  /* of the last use of each line that may hit */
    uint8_t *groups;          /* by set: its group; NULL: no sample, all sets are counted */
    uint64_t *last;           /* by set: 1 + number of the line referenced last; 0: none */
    struct optimum_set *sets; /* NULL: no ways */
};

/* bypass: lines need not be kept at all; else each reference takes a way. sampled: only the sets of
 * the first CACHE_SAMPLE_COUNTED groups are counted. NULL: out of memory. */
struct optimum *optimum_new(const struct set_index *sets, uint32_t ways, unsigned line_shift,
                            bool bypass, bool sampled);
void optimum_free(struct optimum *optimum);

static inline uint32_t optimum_set(const struct optimum *optimum, uint32_t line)
{
    return optimum->masked ? line & (optimum->index.sets - 1) : set_index_of(&optimum->index, line);
}

/* The group of the set of address, with a sample. */
static inline unsigned optimum_group(const struct optimum *optimum, uint32_t address)
{
    return optimum->groups[optimum_set(optimum, address >> optimum->line_shift)];
}

/* Whether the set of address is counted. */
static inline bool optimum_counts(const struct optimum *optimum, uint32_t address)
{
    return !optimum->groups || optimum_group(optimum, address) < CACHE_SAMPLE_COUNTED;
}

/* Whether a reference to the line that holds address hits and changes nothing: it was the last one
 * of its set. */
static inline bool optimum_repeats(const struct optimum *optimum, uint32_t address)
{
    const uint32_t line = address >> optimum->line_shift;
    return !optimum->bypass && optimum->last[optimum_set(optimum, line)] == (uint64_t)line + 1;
}

/* A reference to the line that holds address, in a set that is counted. Returns whether it hits. */
bool optimum_refer(struct optimum *optimum, uint32_t address);

/* The line is fetched anew, in any set, for other reasons than a miss (prefetch, insertion). */
void optimum_fetch(struct optimum *optimum, uint32_t address);

/* The line, of any set, is lost; the next reference to it misses. */
void optimum_lose(struct optimum *optimum, uint32_t address);

/* Whether an allocation failed: the results are wrong. */
bool optimum_failed(const struct optimum *optimum);

#endif
