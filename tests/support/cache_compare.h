/* Compares the cache engine (tools/cache/model/hierarchy.h) with the slow simulator (slow_cache.h).
 */
#ifndef TESTS_SUPPORT_CACHE_COMPARE_H
#define TESTS_SUPPORT_CACHE_COMPARE_H

#include "tools/cache/model/hierarchy.h"

#include <stdio.h>

struct cache_compare {
    bool same;
    size_t records; /* length of the shortest beginning of the trace for which they differ */
    char text[600]; /* the difference, or the rule that the slow simulator broke */
    uint64_t reads_checked;
    unsigned parts; /* of the engine's last run */
};

/* Runs both over a trace, the engine also in parts if that is possible. Settings must be possible.
 * watch: the slow simulator checks itself at each record. */
void cache_compare(struct cache_compare *compare, const struct hierarchy_settings *settings,
                   const struct record *records, size_t count, bool watch);

/* The same; if they differ, finds the shortest beginning that does and prints all of it. */
bool cache_agree(const struct hierarchy_settings *settings, const struct record *records,
                 size_t count, uint64_t seed);

/* Prints settings, one a line. */
void cache_print_settings(FILE *out, const struct hierarchy_settings *settings);

#endif
