/*
 * Spatial sampling: lines with a small hash are followed, references to all others are only
 * counted. Distances between sampled lines are scaled by the sampling rate. Other bits of the hash
 * assign lines to groups, from which the confidence interval is computed.
 */
#ifndef TOOLS_MRC_SAMPLE_H
#define TOOLS_MRC_SAMPLE_H

#include <stdint.h>

#define SAMPLE_ALL    (UINT64_C(1) << 32) /* limit with which all lines are sampled */
#define SAMPLE_GROUPS 32u

static inline uint32_t sample_hash(uint32_t line)
{
    uint32_t hash = (line ^ line >> 16) * 0x7feb352du;
    hash = (hash ^ hash >> 15) * 0x846ca68bu;
    return hash ^ hash >> 16;
}

/* Whether a line is sampled with this limit, of 2^32 hash values. */
static inline int sample_follows(uint32_t line, uint64_t limit)
{
    return sample_hash(line) < limit;
}

/* The group of a line. */
static inline uint32_t sample_group(uint32_t line)
{
    return (sample_hash(line) ^ 0x5bd1e995u) * 0x9e3779b1u >> 27;
}

#endif
