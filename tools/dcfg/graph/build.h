/*
 * Builds the graph and the trace of captures in two passes over the same records: the first pass
 * makes the graph, the optional second pass the trace.
 *
 * Calls: build_new; for each file build_file, and build_put for each of its batches; build_graph.
 * For a trace: build_trace_begin; the same files again; build_trace_end.
 */
#ifndef TOOLS_DCFG_GRAPH_BUILD_H
#define TOOLS_DCFG_GRAPH_BUILD_H

#include "formats/dcfg/dcfg.h"
#include "formats/text/text_writer.h"
#include "tools/dcfg/graph/edge_types.h"
#include "tools/dcfg/graph/fetch_stream.h"

#define BUILD_UNKNOWN_IMAGE "unknown" /* name of an image without a file */

struct build_settings {
    enum fetch_kind fetch;
    const struct images *images; /* NULL: none; must outlive the build */
    bool found;                  /* not named by the user: that none was executed is no error */
    const struct bus_model *bus; /* NULL: to be found; must outlive the build */
    enum unknown_branches unknown;
    bool keep_noise;      /* fetches with wrong address bits count as others do */
    uint64_t memory_max;  /* limit in bytes of the flow, and again of the DCFG */
    uint32_t chunk_edges; /* maximum number of edges in a chunk of the trace; 0: the default */
};

struct build_counts {
    uint64_t records;      /* of any type */
    uint64_t fetches;      /* of them */
    uint64_t instructions; /* in the graph */
    uint64_t holes;
    bool is_program;       /* threads are those of an executed program, else processors */
    enum fetch_kind fetch; /* kind of the fetches; FETCH_AUTO without any fetch */
    struct image_matches matches;
    struct bus_fetch_counts bus; /* zero if fetches are not chunks of a bus */
    struct bus_finding finding;  /* likewise */
    uint64_t edges;              /* in the trace */
};

struct build;

/* NULL and *error without memory. */
struct build *build_new(const struct build_settings *settings, struct bt_error *error);
void build_free(struct build *build);

/* Begins a file of records; info is its header, or NULL. */
void build_file(struct build *build, const struct capture_info *info);

/* Puts the next records of the file. 0 or BT_MEMORY; in the second pass also BT_DATA, if the
 * records differ from the first pass, and the writer's errors. */
int build_put(struct build *build, const struct batch *batch, struct bt_error *error);

/* The same of a batch whose records the executions have, in the first pass. */
int build_put_executions(struct build *build, const struct batch *batch,
                         const struct block_executions *executions, struct bt_error *error);

/* Ends the first pass and makes the graph, which the caller owns. NULL and BT_DATA without any
 * fetch, BT_MEMORY, or the error of reading the images' names. */
int build_graph(struct build *build, struct dcfg **graph, struct bt_error *error);

/* build_trace_begin starts the second pass, whose trace goes to writer, which the caller finishes;
 * build_trace_end ends it. 0, BT_MEMORY, BT_DATA as in build_put, or the writer's error. */
int build_trace_begin(struct build *build, struct text_writer *writer, struct bt_error *error);
int build_trace_end(struct build *build, struct bt_error *error);

/* Valid after build_graph. */
struct build_counts build_counts(const struct build *build);

#endif
