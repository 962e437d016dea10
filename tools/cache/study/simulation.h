/* A simulation of one hierarchy as a sink of records, with one or several threads in one or several
 * processes. */
#ifndef TOOLS_CACHE_STUDY_SIMULATION_H
#define TOOLS_CACHE_STUDY_SIMULATION_H

#include "formats/record/sink.h"
#include "tools/cache/study/attribution.h"
#include "tools/cache/study/phases.h"
#include "tools/cache/study/results.h"
#include "tools/common/cluster.h"

#define SIMULATION_THREADS_MAX 256u

struct simulation;

/* threads: in each process; 0: one for each processor of the host, if the sets can be divided and
 * more than one thread is faster. Sets that cannot be divided are simulated by process 0 alone;
 * simulation_one_thread() limits the threads. 0, BT_USAGE or BT_MEMORY. */
int simulation_new(struct simulation **simulation, const struct hierarchy_settings *settings,
                   unsigned threads, const struct cluster *cluster, struct bt_error *error);

/* Divides the simulation into phases; before the first record. */
void simulation_divide(struct simulation *simulation, const struct phases *phases);

/* Attributes the misses of a simulation of one part in one process; before the first record. The
 * caller keeps the attribution. 0, or BT_USAGE. */
int simulation_attribute(struct simulation *simulation, struct attribution *attribution,
                         struct bt_error *error);

/* Takes the clock of the trace, in ticks per second (0: unknown), for phases that last a time;
 * before its first record. 0, or BT_USAGE. */
int simulation_clock(struct simulation *simulation, uint64_t clock_hz, struct bt_error *error);

/* Why a process simulates checked settings with one thread only, as part of a sentence; NULL: it
 * need not. */
const char *simulation_one_thread(const struct hierarchy_settings *settings);

/* Whether this process simulates a part; otherwise it needs no records. */
bool simulation_takes_part(const struct simulation *simulation);

/* The sink for the records. The simulation owns it; it is not closed. */
struct sink *simulation_sink(struct simulation *simulation);

/* Whether the simulation takes executions in place of records; after simulation_divide and
 * simulation_attribute. */
struct block_executions;
bool simulation_takes_executions(const struct simulation *simulation);

/* Simulates a batch whose records the executions have. 0 or BT_MEMORY. */
int simulation_put_executions(struct simulation *simulation, const struct batch *batch,
                              const struct block_executions *executions, struct bt_error *error);

/* Ends the simulation and collects this process's results. 0 or BT_MEMORY. */
int simulation_end(struct simulation *simulation, struct cache_results *results,
                   struct bt_error *error);

/* Requests lost by the capture. */
uint64_t simulation_lost(const struct simulation *simulation);

/* simulation may be NULL. */
void simulation_free(struct simulation *simulation);

#endif
