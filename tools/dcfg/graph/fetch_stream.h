/*
 * Converts the records of captures to a stream of executed instructions for
 * tools/dcfg/graph/flow.h.
 *
 * Files are concatenated. If a file does not continue where the previous one ended, or records are
 * missing within it, the stream has a hole: a gap of a millisecond before a batch.
 *
 * There are two kinds of streams. In one, each fetch is an instruction of 1 to 15 bytes, and the
 * next fetch is usually at the following address. In the other, fetches are bus transfers: aligned
 * chunks of 4 to 32 bytes. FETCH_AUTO examines the first 4096 fetches: the stream is a bus if most
 * of them are such chunks; of 8 bytes or more without images, because other processors have
 * instructions of 4 bytes.
 *
 * With images, chunks are converted to the instructions in them (bus_fetch.h) according to a model
 * of the bus, which is given or found in the first fetches (bus_detect.h). Without images, they are
 * converted to visits of chunks (bus_visits.h); a visit counts as one instruction.
 */
#ifndef TOOLS_DCFG_GRAPH_FETCH_STREAM_H
#define TOOLS_DCFG_GRAPH_FETCH_STREAM_H

#include "formats/blocks/block_executions.h"
#include "formats/record/capture_info.h"
#include "formats/record/sink.h"
#include "tools/dcfg/graph/bus_detect.h"
#include "tools/dcfg/graph/bus_evidence.h"
#include "tools/dcfg/graph/bus_fetch.h"
#include "tools/dcfg/graph/flow.h"

enum fetch_kind { FETCH_AUTO, FETCH_INSTR, FETCH_BUS };

struct fetch_stream;

struct fetch_stream_settings {
    enum fetch_kind kind;
    const struct images *images;       /* NULL: none */
    const struct bus_model *model;     /* NULL: to be found */
    const struct bus_finding *finding; /* of an earlier pass over the same records; NULL: none */
    bool keep_noise;                   /* fetches with wrong address bits count as others do */
};

/* Makes a stream into a sink. The images, the model and the sink are the caller's and must outlive
 * it. NULL and *error without memory. */
struct fetch_stream *fetch_stream_new(const struct fetch_stream_settings *settings, struct sink *to,
                                      struct bt_error *error);
void fetch_stream_free(struct fetch_stream *stream);

/* Begins a file; info is its header, or NULL. */
void fetch_stream_file(struct fetch_stream *stream, const struct capture_info *info);

/* Puts a batch of the file. 0, BT_DATA if the fetches of a bus do not show what was executed, or
 * the sink's error. */
int fetch_stream_put(struct fetch_stream *stream, const struct batch *batch,
                     struct bt_error *error);

/* Lets fetch_stream_put_executions put executions into the flow, which is also the stream's sink.
 */
void fetch_stream_by_blocks(struct fetch_stream *stream, struct flow *flow);

/* Puts a batch whose records the executions have. As fetch_stream_put. */
int fetch_stream_put_executions(struct fetch_stream *stream, const struct batch *batch,
                                const struct block_executions *executions, struct bt_error *error);

/* Ends the stream. As fetch_stream_put. */
int fetch_stream_end(struct fetch_stream *stream, struct bt_error *error);

/* The kind, if it is known; at the end it is, unless there was no fetch. */
enum fetch_kind fetch_stream_kind(const struct fetch_stream *stream);

/* The kind that these fetches look like: FETCH_INSTR or FETCH_BUS. Chunks have chunk_min bytes or
 * more. */
enum fetch_kind fetch_stream_detect(const struct record *records, size_t count, uint32_t chunk_min);

/* What was found of the bus, and what the executions rest on; NULL: the fetches are not chunks of a
 * bus. Evidence is not collected in a stream that was given a finding. */
const struct bus_finding *fetch_stream_finding(const struct fetch_stream *stream);
const struct bus_evidence *fetch_stream_evidence(const struct fetch_stream *stream);

struct fetch_stream_counts {
    uint64_t records;            /* of any type */
    uint64_t holes;              /* losses, gaps and missing records */
    bool is_program;             /* the last file is of an executed program */
    struct bus_fetch_counts bus; /* zero if fetches are not chunks of a bus */
};
struct fetch_stream_counts fetch_stream_counts(const struct fetch_stream *stream);

/* Gives the fetches of images that share addresses the addresses that the images were moved to
 * (tools/symbols/image_times.h). images may be NULL. 0 or BT_DATA. */
int fetches_place(const struct images *images, const struct batch *batch, struct bt_error *error);

#endif
