/* Results of a simulation, independent of the simulator: of one hierarchy, or of parts merged. */
#ifndef TOOLS_CACHE_STUDY_RESULTS_H
#define TOOLS_CACHE_STUDY_RESULTS_H

#include "formats/base/named_fields.h"
#include "tools/cache/model/hierarchy.h"
#include "tools/cache/study/intervals.h"

#define RESULT_ALL (-1) /* as a processor: a shared cache */

struct NAMED_FIELDS cache_result {
    unsigned level; /* 0: level 1 */
    int processor;  /* or RESULT_ALL */
    enum cache_side side;
    bool agent; /* takes part in coherence */
    struct cache_counters counters;
};

struct cache_results {
    struct hierarchy_settings settings;
    struct cache_result *caches; /* by level, processor, side */
    size_t cache_count;
    struct hierarchy_counters counters;
    struct cache_line_counters *lines; /* in ascending order of address */
    size_t line_count;
    struct line_access *accesses; /* of lines, as line_access_compare orders them */
    size_t access_count;
    uint64_t accesses_least; /* line_accesses_least */
    struct intervals intervals;
    uint64_t warm_records; /* of the warm-up, which the counters do not include */
    bool all_warm;         /* the trace ended within the warm-up */
};

/* Copies the counters of a hierarchy. 0 or BT_MEMORY. */
int cache_results_take(struct cache_results *results, const struct hierarchy *hierarchy,
                       const struct hierarchy_settings *settings, struct bt_error *error);

/* Adds the results of another part of the same simulation. 0 or BT_MEMORY. */
int cache_results_add(struct cache_results *results, const struct cache_results *more,
                      struct bt_error *error);

/* The sum over the caches of one level and side. */
struct cache_counters cache_results_sum(const struct cache_results *results, unsigned level,
                                        enum cache_side side);

void cache_results_clear(struct cache_results *results);

#endif
