/*
 * Converts the chunks that a bus transferred to visits of chunks, when no image shows which
 * instructions are in them, for each processor separately.
 *
 * A chunk that comes again is the same visit where the model refetches. With noise, an excursion
 * that looks like an error of the probe (tools/common/fetch_noise.h) is dropped, unless it recurs:
 * the program then goes there.
 */
#ifndef TOOLS_DCFG_GRAPH_BUS_VISITS_H
#define TOOLS_DCFG_GRAPH_BUS_VISITS_H

#include "formats/record/sink.h"
#include "tools/dcfg/graph/bus_evidence.h"
#include "tools/dcfg/graph/bus_fetch.h"
#include "tools/dcfg/graph/bus_model.h"

struct bus_visits;

/* noise_mask: address bits that are often wrong. The evidence and the sink must outlive it; the
 * model is copied. NULL and *error without memory. */
struct bus_visits *bus_visits_new(const struct bus_model *model, uint32_t noise_mask,
                                  struct bus_evidence *evidence, struct sink *to,
                                  struct bt_error *error);
void bus_visits_free(struct bus_visits *visits);

/* Before the first fetch: no visit is certain. */
void bus_visits_doubt(struct bus_visits *visits);

/* Takes the fetches of a batch; other requests are skipped. The sink gets a fetch for each visit;
 * holes are passed on. 0, BT_MEMORY, or the sink's error. */
int bus_visits_put(struct bus_visits *visits, const struct batch *batch, struct bt_error *error);

/* Ends the stream. 0 or the sink's error. */
int bus_visits_end(struct bus_visits *visits, struct bt_error *error);

/* `instructions` are visits. */
struct bus_fetch_counts bus_visits_counts(const struct bus_visits *visits);

#endif
