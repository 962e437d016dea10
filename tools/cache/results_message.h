/* What one process of several found, on its way to the one that adds it all up. */
#ifndef TOOLS_CACHE_RESULTS_MESSAGE_H
#define TOOLS_CACHE_RESULTS_MESSAGE_H

#include "tools/cache/results.h"
#include "tools/common/cluster.h"

/*
 * Adds up the results of all processes in process 0's; the others' stay as they are. All processes
 * run the same program on machines of one kind: counters travel as they lie in memory. 0, BT_IO,
 * BT_DATA or BT_MEMORY.
 */
int cache_results_gather(struct cache_results *results, struct cluster *cluster,
                         struct bt_error *error);

#endif
