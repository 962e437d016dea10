/*
 * Spatial sampling: of all lines those with a small hash are followed, all the others are only
 * counted. What is seen of the few stands for all, with distances as much larger as lines are
 * fewer. For the error, the lines are dealt into groups by other bits of the hash.
 */
#ifndef TOOLS_MRC_SAMPLE_H
#define TOOLS_MRC_SAMPLE_H

#include <stdint.h>

#define SAMPLE_ALL    (UINT64_C(1) << 32) /* the limit with which all lines are followed */
#define SAMPLE_GROUPS 32u

static inline uint32_t sample_hash(uint32_t line)
{
    uint32_t hash = (line ^ line >> 16) * 0x7feb352du;
    hash = (hash ^ hash >> 15) * 0x846ca68bu;
    return hash ^ hash >> 16;
}

/* Whether a line is followed where the limit is so many of 2^32 hashes. */
static inline int sample_follows(uint32_t line, uint64_t limit)
{
    return sample_hash(line) < limit;
}

/* A line's group. */
static inline uint32_t sample_group(uint32_t line)
{
    return (sample_hash(line) ^ 0x5bd1e995u) * 0x9e3779b1u >> 27;
}

#endif
