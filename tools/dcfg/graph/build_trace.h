/*
 * Writes the trace of a stream of fetches whose graph is finished: replays the stream through the
 * graph and writes the edges.
 *
 * A loss ends a thread's chunk: the first edge after a loss begins a new one. PRECEDING_INSTR_COUNT
 * continues as if nothing were missing, like the counts of the graph, because the number of lost
 * instructions is unknown.
 */
#ifndef TOOLS_DCFG_GRAPH_BUILD_TRACE_H
#define TOOLS_DCFG_GRAPH_BUILD_TRACE_H

#include "formats/record/sink.h"
#include "formats/text/text_writer.h"
#include "tools/dcfg/graph/flow.h"

struct build_trace;

/* The caller owns flow, graph and writer. chunk_edges: 0 for the default. NULL and *error on
 * failure. */
struct build_trace *build_trace_new(struct flow *flow, const struct flow_graph *graph,
                                    uint64_t process_id, uint32_t chunk_edges,
                                    struct text_writer *writer, struct bt_error *error);
void build_trace_free(struct build_trace *trace);

/* The sink of the fetches, which must be those that the graph was made of. Its put returns 0,
 * BT_DATA if they differ, BT_MEMORY, or the writer's error. It is freed with the trace, not closed.
 */
struct sink *build_trace_sink(struct build_trace *trace);

/* Ends the stream and the document. Returns what the sink's put returns. */
int build_trace_finish(struct build_trace *trace, struct bt_error *error);

/* Number of edges so far. */
uint64_t build_trace_edges(const struct build_trace *trace);

#endif
