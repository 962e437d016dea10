/* A miss-ratio curve out of counts: for every size of a fully associative LRU cache, or for every
 * associativity of one with a fixed number of sets, how many references miss. */
#ifndef TOOLS_MRC_CURVE_H
#define TOOLS_MRC_CURVE_H

#include "tools/mrc/mrc_study.h"

struct curve {
    uint64_t references;
    uint64_t compulsory;    /* misses of every size: first references of lines */
    uint64_t *hits;         /* in caches of 0 lines, 1, ... end, of those that are followed; */
    uint64_t end;           /* all that hit in any are in hits[end] */
    bool in_buckets;        /* hits are not at every size, but at those that begin a bucket */
    uint64_t followed;      /* references whose lines are followed */
    double rate;            /* of lines that are followed; 1: all */
    const uint64_t *groups; /* of a sample; the series' */
};

/* The curve of a series without windows; it must outlive the curve. 0 or BT_MEMORY. */
int curve_init(struct curve *curve, const struct series *series,
               const struct mrc_study_settings *settings, struct bt_error *error);

/* The curve of one window's counts, which is exact at sizes that are a bucket's first. */
int curve_init_window(struct curve *curve, const uint64_t *counts, struct bt_error *error);

void curve_free(struct curve *curve);

/* How many references miss in a cache of so many lines (ways, where there are sets). */
uint64_t curve_misses(const struct curve *curve, uint64_t lines);

/* misses / references; 0 where there are none. */
double curve_ratio(const struct curve *curve, uint64_t misses);

/* A range of miss ratios, 0 <= low <= high <= 1. */
struct NAMED_FIELDS curve_interval {
    double low, high;
};

/*
 * The 95 % confidence interval of the miss ratio: what the groups of a sample's lines differ by,
 * and that a size is only known as well as lines can be counted of which one in so many is
 * followed. Where the curve is exact both ends are the miss ratio.
 */
struct curve_interval curve_interval(const struct curve *curve, uint64_t lines);

/*
 * The next size to list: steps 0: where the curve changes; 1, 2, 4, 8: powers of two, with
 * steps - 1 sizes between each two. 0 lines: the first. Returns 0 behind the size from which on
 * only compulsory misses are left.
 */
uint64_t curve_next(const struct curve *curve, uint64_t lines, unsigned steps);

#endif
