/*
 * The graph and the trace of captures, in two passes over the same records: the first makes the
 * graph, the second one, if there is one, the trace.
 *
 *     build_new
 *     for each file: build_file, build_put for each of its batches
 *     build_graph
 *     for a trace: build_trace_begin, the same files again, build_trace_end
 */
#ifndef TOOLS_DCFG_GRAPH_BUILD_H
#define TOOLS_DCFG_GRAPH_BUILD_H

#include "formats/dcfg/dcfg.h"
#include "formats/text/text_writer.h"
#include "tools/dcfg/graph/edge_types.h"
#include "tools/dcfg/graph/fetch_stream.h"

struct build_settings {
    enum fetch_kind fetch;
    const struct images *images; /* NULL where there are none; they outlive the build */
    uint64_t memory_max;         /* bytes for the graph as it grows, and again for its DCFG */
    uint32_t chunk_edges;        /* the most edges of a chunk of the trace; 0: a default */
};

struct build_counts {
    uint64_t records;      /* of any type */
    uint64_t fetches;      /* of them */
    uint64_t instructions; /* in the graph */
    uint64_t holes;
    enum fetch_kind fetch; /* what the fetches are; FETCH_AUTO if there were none */
    struct image_matches matches;
    struct bus_fetch_counts bus; /* zero where fetches are not taken apart */
    uint64_t edges;              /* in the trace */
};

struct build;

/* NULL and *error without memory. */
struct build *build_new(const struct build_settings *settings, struct bt_error *error);
void build_free(struct build *build);

/* A file of records begins; info is its header, NULL where it has none. */
void build_file(struct build *build, const struct capture_info *info);

/* The next records of the file. 0; BT_MEMORY; in the second pass also BT_DATA, if these are not the
 * records of the first, and what the writer says. */
int build_put(struct build *build, const struct batch *batch, struct bt_error *error);

/* Ends the first pass and makes the graph, which is the caller's. 0; BT_DATA if there was no fetch;
 * BT_MEMORY, or what reading the names of images brings. */
int build_graph(struct build *build, struct dcfg **graph, struct bt_error *error);

/* Begins the second pass, whose trace goes to writer, which the caller finishes; and ends it. 0,
 * BT_MEMORY, BT_DATA as build_put, or what the writer says. */
int build_trace_begin(struct build *build, struct text_writer *writer, struct bt_error *error);
int build_trace_end(struct build *build, struct bt_error *error);

/* After build_graph. */
struct build_counts build_counts(const struct build *build);

#endif
