/*
 * Runs: chunks fetched at successive addresses. After a branch, a processor that prefetches fetches
 * at least that many chunks beyond the first one.
 */
#ifndef TOOLS_DCFG_GRAPH_BUS_RUNS_H
#define TOOLS_DCFG_GRAPH_BUS_RUNS_H

#include "formats/base/error.h"
#include "formats/record/record.h"

#include <stddef.h>
#include <stdint.h>

#define BUS_RUNS_MIN   300u /* fewer runs tell nothing */
#define BUS_RUNS_OFTEN 4u   /* addresses that come less often may be wrong */

/* The share of runs that do not have `ahead` chunks after the first one, per mille; 1000 if there
 * are too few runs. */
unsigned bus_runs_short(const struct record *fetches, size_t count, uint32_t chunk, unsigned ahead);

struct bus_repair {
    struct record *fetches; /* to be freed */
    size_t count;           /* of repaired fetches */
    uint32_t mask;          /* address bits that were wrong in at least 1 of 20 */
};

/* Replaces addresses that differ in one or two bits from one that completes a run, and come much
 * less often than that one. 0 or BT_MEMORY. */
int bus_runs_repair(struct bus_repair *repair, const struct record *fetches, size_t count,
                    uint32_t chunk, struct bt_error *error);

/* For qsort: orders numbers of 32 bits. */
int bus_runs_compare(const void *a, const void *b);

#endif
