/*
 * Many caches over the same records at once: sizes, lines and associativities of one level of a
 * hierarchy. Where that is a single level of LRU caches with nothing special, all of one line size
 * are simulated together (lru_stacks.h), else one hierarchy beside the other; what is counted is
 * the same.
 */
#ifndef TOOLS_CACHE_SWEEP_H
#define TOOLS_CACHE_SWEEP_H

#include "formats/record/sink.h"
#include "tools/cache/hierarchy.h"
#include "tools/common/cluster.h"

#define SWEEP_VALUES_MAX 64u   /* of each of size, line, ways */
#define SWEEP_POINTS_MAX 4096u /* of all together */

/* What is to be swept over; all caches that these make are simulated. */
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
    struct cache_counters sides[CACHE_SIDES]; /* of all processors together */
};

struct sweep;

/*
 * Reads "size=4K..1M,ways=1..8,line=32,64,level=2": lists, A..B stands for A, 2A, 4A ... up to B;
 * what is not said stays as the hierarchy has it. 0 or BT_USAGE.
 */
int sweep_axes_parse(struct sweep_axes *axes, const char *text, struct bt_error *error);

struct sweep_settings {
    const struct hierarchy_settings *hierarchy; /* read by sweep_new only, as axes are */
    const struct sweep_axes *axes;
    unsigned threads;            /* of each process; 0: as many as there are processors */
    unsigned process, processes; /* this one, and all that share the work; 0 of 0: it is alone */
    bool together; /* let lru_stacks do what it can; else hierarchies do all, which is slower */
};

/* Of sizes, lines and ways those that make no possible cache are left out, BT_USAGE where none is
 * left. 0, BT_USAGE or BT_MEMORY. */
int sweep_new(struct sweep **sweep, const struct sweep_settings *settings, struct bt_error *error);

/* How many caches were left out; the last sentence why, in *why (may be NULL). */
unsigned sweep_left_out(const struct sweep *sweep, const char **why);

/* What records are put into; it is the sweep's, and is not closed. */
struct sink *sweep_sink(struct sweep *sweep);

/* Behind the last record: what this process counted is then in the points. 0 or BT_MEMORY. */
int sweep_end(struct sweep *sweep, struct bt_error *error);

/* Process 0's points become those of all processes. 0, BT_IO or BT_MEMORY. */
int sweep_gather(struct sweep *sweep, struct cluster *cluster, struct bt_error *error);

/* The caches, *count of them, by line, ways (full last) and size; valid as long as the sweep. */
const struct sweep_point *sweep_points(const struct sweep *sweep, unsigned *count);

uint64_t sweep_records(const struct sweep *sweep);
uint64_t sweep_lost(const struct sweep *sweep); /* when the records were captured */

/* NULL is allowed. */
void sweep_free(struct sweep *sweep);

#endif
