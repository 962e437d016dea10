/* A miss-ratio curve: the misses of a fully associative LRU cache for every size, or of a cache
 * with a fixed number of sets for every associativity. */
#ifndef TOOLS_MRC_CURVE_H
#define TOOLS_MRC_CURVE_H

#include "tools/mrc/mrc_study.h"

struct curve {
    uint64_t references;
    uint64_t compulsory;    /* first references to lines, which miss in caches of every size */
    uint64_t *hits;         /* hits[n]: hits in a cache of n lines, 0 to end; sampled lines only */
    uint64_t end;           /* hits[end] counts all hits in a cache of any size */
    bool scaled;            /* hits and groups stand for all lines, not only for those sampled */
    bool in_buckets;        /* hits are known only at the lower bounds of buckets */
    uint64_t followed;      /* references to sampled lines */
    double rate;            /* share of lines that are sampled; 1: all */
    const uint64_t *groups; /* of a sample; owned by the series */
    /* of simulated caches, instead of hits; owned by the study */
    const struct simulated_sizes *sizes;
    unsigned size_count;         /* without the last ones that miss no less than smaller ones */
    const uint64_t *size_misses; /* [size * size_groups + group] */
    unsigned size_groups;
};

/* Makes the curve of one of a study's series, without windows; the study must outlive it. 0 or
 * BT_MEMORY. */
int curve_init(struct curve *curve, const struct mrc_study *study, unsigned number,
               struct bt_error *error);

/* Makes the curve of one window, exact at the lower bounds of buckets. */
int curve_init_window(struct curve *curve, const uint64_t *counts, struct bt_error *error);

void curve_free(struct curve *curve);

/* Misses of a cache of `lines` lines (ways, if there are sets). */
uint64_t curve_misses(const struct curve *curve, uint64_t lines);

/* misses / references; 0 without references. */
double curve_ratio(const struct curve *curve, uint64_t misses);

/* A range of miss ratios, 0 <= low <= high <= 1. */
struct NAMED_FIELDS curve_interval {
    double low, high;
};

/*
 * The 95 % confidence interval of the miss ratio: from the variation between the groups of sampled
 * lines, and from the resolution of cache sizes under sampling. For an exact curve both ends are
 * the miss ratio.
 */
struct curve_interval curve_interval(const struct curve *curve, uint64_t lines);

/*
 * The next size to list; lines 0: the first. steps 0: sizes at which the curve changes; 1, 2, 4, 8:
 * powers of two, with steps - 1 sizes between two of them. Of simulated caches, the sizes
 * simulated. Returns 0 after the first size with compulsory misses only.
 */
uint64_t curve_next(const struct curve *curve, uint64_t lines, unsigned steps);

#endif
