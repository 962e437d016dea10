/*
 * Many caches over the same records: sizes, line sizes and associativities of one level of a
 * hierarchy. If the level is the only one and plain LRU, all caches of one line size are simulated
 * together (lru_stacks.h); otherwise each hierarchy is simulated separately. The counters are the
 * same.
 */
#ifndef TOOLS_CACHE_STUDY_SWEEP_H
#define TOOLS_CACHE_STUDY_SWEEP_H

#include "formats/record/sink.h"
#include "tools/cache/model/hierarchy.h"
#include "tools/cache/study/phases.h"
#include "tools/common/cluster.h"

#define SWEEP_VALUES_MAX 64u   /* of each of size, line, ways */
#define SWEEP_POINTS_MAX 4096u /* of all combinations */

/* The values to sweep; every combination is simulated. */
struct sweep_axes {
    unsigned level; /* 0: level 1 */
    uint64_t sizes[SWEEP_VALUES_MAX];
    unsigned size_count;
    uint32_t lines[SWEEP_VALUES_MAX];
    unsigned line_count;
    uint32_t ways[SWEEP_VALUES_MAX]; /* 0: fully associative */
    unsigned ways_count;
};

/* One of the caches. */
struct sweep_point {
    uint64_t size;
    uint32_t line;
    uint32_t ways;                            /* 0: fully associative */
    struct cache_counters sides[CACHE_SIDES]; /* summed over the processors */
};

/* Gives the caches of a level the size, lines and ways of a point. */
void sweep_point_settings(struct hierarchy_settings *settings, unsigned level,
                          const struct sweep_point *point);

struct sweep;

/* Parses "size=4K..1M,ways=1..8,line=32,64,level=2": lists, in which A..B means A, 2A, 4A ... up to
 * B. A missing axis keeps the value of the hierarchy. 0 or BT_USAGE. */
int sweep_axes_parse(struct sweep_axes *axes, const char *text, struct bt_error *error);

struct sweep_settings {
    const struct hierarchy_settings *hierarchy; /* only sweep_new reads it and axes */
    const struct sweep_axes *axes;
    unsigned threads;            /* of each process; 0: one for each processor of the host */
    unsigned process, processes; /* this process, and their number; 0 of 0: a single process */
    bool together; /* use lru_stacks where possible; false: simulate hierarchies, which is slower */
    unsigned fastest; /* enum lru_form */
};

/* Combinations that are no possible cache are left out; BT_USAGE if none is left. 0, BT_USAGE or
 * BT_MEMORY. */
int sweep_new(struct sweep **sweep, const struct sweep_settings *settings, struct bt_error *error);

/* Number of caches left out; *why, which may be NULL, becomes the reason of the last one. */
unsigned sweep_left_out(const struct sweep *sweep, const char **why);

/* Does not count the references of this first part of the trace; before the first record. */
void sweep_warm(struct sweep *sweep, const struct extent *warm);

/* Takes the clock of the trace, in ticks per second (0: unknown), for a warm-up that lasts a time;
 * before its first record. 0, or BT_USAGE. */
int sweep_clock(struct sweep *sweep, uint64_t clock_hz, struct bt_error *error);

/* The sink for the records. The sweep owns it; it is not closed. */
struct sink *sweep_sink(struct sweep *sweep);

/* Call after the last record; puts this process's counters into the points. 0 or BT_MEMORY. */
int sweep_end(struct sweep *sweep, struct bt_error *error);

/* Sums the points of all processes into those of process 0. 0, BT_IO or BT_MEMORY. */
int sweep_gather(struct sweep *sweep, struct cluster *cluster, struct bt_error *error);

/* The caches, by line, ways (full last) and size; *count becomes their number. Valid as long as the
 * sweep. */
const struct sweep_point *sweep_points(const struct sweep *sweep, unsigned *count);

uint64_t sweep_records(const struct sweep *sweep); /* without those of the warm-up */
uint64_t sweep_warm_records(const struct sweep *sweep);
uint64_t sweep_lost(const struct sweep *sweep); /* requests lost by the capture */

/* sweep may be NULL. */
void sweep_free(struct sweep *sweep);

#endif
