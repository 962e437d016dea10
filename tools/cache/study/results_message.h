/* Transfer of results between processes. */
#ifndef TOOLS_CACHE_STUDY_RESULTS_MESSAGE_H
#define TOOLS_CACHE_STUDY_RESULTS_MESSAGE_H

#include "tools/cache/study/results.h"
#include "tools/common/cluster.h"

/*
 * Adds the results of all processes to those of process 0; the others are unchanged. All processes
 * run the same program on machines of one kind: counters are sent in memory layout. 0, BT_IO,
 * BT_DATA or BT_MEMORY.
 */
int cache_results_gather(struct cache_results *results, struct cluster *cluster,
                         struct bt_error *error);

#endif
