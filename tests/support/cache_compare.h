/* The caches' engine (tools/cache/hierarchy.h) beside the slow simulator (slow_cache.h). */
#ifndef TESTS_SUPPORT_CACHE_COMPARE_H
#define TESTS_SUPPORT_CACHE_COMPARE_H

#include "tools/cache/hierarchy.h"

#include <stdio.h>

struct cache_compare {
    bool same;
    size_t records; /* the shortest beginning of the trace for which they differ */
    char text[600]; /* how they differ, or what the slow one finds broken in itself */
    uint64_t reads_checked;
    unsigned parts; /* of the engine's last run */
};

/* Runs both over a trace, the engine in parts too where it can be. Settings must be possible.
 * watch: the slow one checks itself at each record. */
void cache_compare(struct cache_compare *compare, const struct hierarchy_settings *settings,
                   const struct record *records, size_t count, bool watch);

/* The same; where they differ the shortest beginning is looked for, and all is printed. */
bool cache_agree(const struct hierarchy_settings *settings, const struct record *records,
                 size_t count, uint64_t seed);

/* Settings, a line for each thing that is said. */
void cache_print_settings(FILE *out, const struct hierarchy_settings *settings);

#endif
