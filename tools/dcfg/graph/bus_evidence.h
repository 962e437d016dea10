/*
 * Collects, while the fetches of a bus are converted, how often each chunk was fetched and which
 * executions are not certain; then gives each block of the graph its share
 * (formats/dcfg/dcfg_bus.h).
 */
#ifndef TOOLS_DCFG_GRAPH_BUS_EVIDENCE_H
#define TOOLS_DCFG_GRAPH_BUS_EVIDENCE_H

#include "formats/base/error.h"
#include "formats/dcfg/dcfg.h"

struct bus_evidence;

/* The fetches are chunks of that many bytes, a power of two. NULL and *error without memory. */
struct bus_evidence *bus_evidence_new(uint32_t chunk, struct bt_error *error);
void bus_evidence_free(struct bus_evidence *evidence);

/* A fetch of the chunk at an address. 0 or BT_MEMORY. Without evidence (NULL) nothing is collected,
 * as in the functions below. */
int bus_evidence_fetch(struct bus_evidence *evidence, uint32_t address, struct bt_error *error);

/* An execution of the instruction, or visit of the chunk, at an address that is assumed or that
 * nothing explains. 0 or BT_MEMORY. */
int bus_evidence_assumed(struct bus_evidence *evidence, uint32_t address, struct bt_error *error);
int bus_evidence_unexplained(struct bus_evidence *evidence, uint32_t address,
                             struct bt_error *error);

/*
 * Adds a row for each block of the sealed graph's first process to graph->bus. An execution of a
 * block is certain if those of all its instructions are: certain is its count without those of the
 * instruction that is most often uncertain. 0 or BT_MEMORY.
 */
int bus_evidence_add_to(const struct bus_evidence *evidence, struct dcfg *graph,
                        struct bt_error *error);

#endif
