/* Average access times of a simulated hierarchy: doc/cache-model.md, "Access times". */
#ifndef TOOLS_CACHE_STUDY_ACCESS_TIME_H
#define TOOLS_CACHE_STUDY_ACCESS_TIME_H

#include "tools/cache/study/results.h"

/* Average over some references of the processors. */
struct access_time {
    uint64_t references;
    double cycles;                     /* for one reference; 0 without references */
    double level_cycles[CACHE_LEVELS]; /* of these, spent in each level, */
    double memory_cycles;              /* and in memory */
};

/* Whether the settings have latencies. */
bool access_time_is_known(const struct hierarchy_settings *settings);

/* The time of the references of one side of level 1: fetches, or reads and writes. All references
 * if level 1 is unified; side is ignored then. */
struct access_time access_time_of(const struct cache_results *results, enum cache_side side);

/* The time of all references. */
struct access_time access_time_of_all(const struct cache_results *results);

#endif
