/* A simulation of one hierarchy as a sink of records, by one thread or by several, in one process
 * or in several. */
#ifndef TOOLS_CACHE_SIMULATION_H
#define TOOLS_CACHE_SIMULATION_H

#include "formats/record/sink.h"
#include "tools/cache/results.h"
#include "tools/common/cluster.h"

struct simulation;

/*
 * threads, in each process: 0 for as many as there are processors, where the sets can be divided
 * among them at all. Sets that cannot be divided among processes are all process 0's. 0, BT_USAGE
 * or BT_MEMORY.
 */
int simulation_new(struct simulation **simulation, const struct hierarchy_settings *settings,
                   unsigned threads, const struct cluster *cluster, struct bt_error *error);

/* Whether this process has a part in it: without one it needs no records. */
bool simulation_takes_part(const struct simulation *simulation);

/* What records are put into; it is the simulation's, and is not closed. */
struct sink *simulation_sink(struct simulation *simulation);

/* Ends the simulation and takes what this process found. 0 or BT_MEMORY. */
int simulation_end(struct simulation *simulation, struct cache_results *results,
                   struct bt_error *error);

/* Requests that were lost when the records were captured. */
uint64_t simulation_lost(const struct simulation *simulation);

/* NULL is allowed. */
void simulation_free(struct simulation *simulation);

#endif
