/*
 * From the records of captures to a stream of executed instructions: what tools/dcfg/graph/flow.h
 * takes.
 *
 * Files are put one after the other. Where one does not go on where the one before it ended, or
 * records are missing within it, a hole is told, as a gap of a millisecond in front of a batch.
 *
 * There are two kinds of stream. In one each fetch is an instruction, of 1 to 15 bytes, and the
 * next fetch is mostly at its address plus its size. In the other fetches are what a bus transfers:
 * aligned chunks of 8, 16 or 32 bytes. FETCH_AUTO looks at the first FETCH_STREAM_SAMPLE fetches:
 * it is a bus if most of them are such chunks.
 *
 * With images, chunks become the instructions in them (bus_fetch.h); without, a chunk is one.
 */
#ifndef TOOLS_DCFG_GRAPH_FETCH_STREAM_H
#define TOOLS_DCFG_GRAPH_FETCH_STREAM_H

#include "formats/record/capture_info.h"
#include "formats/record/sink.h"
#include "tools/dcfg/graph/bus_fetch.h"

#define FETCH_STREAM_SAMPLE 4096u

enum fetch_kind { FETCH_AUTO, FETCH_INSTR, FETCH_BUS };

struct fetch_stream;

/* A stream of that kind into a sink; images may be NULL; both stay the caller's. NULL and *error
 * without memory. */
struct fetch_stream *fetch_stream_new(enum fetch_kind kind, const struct images *images,
                                      struct sink *to, struct bt_error *error);
void fetch_stream_free(struct fetch_stream *stream);

/* A file begins; info is its header, NULL where it has none. */
void fetch_stream_file(struct fetch_stream *stream, const struct capture_info *info);

/* Takes a batch of the file. 0, or what the sink says. */
int fetch_stream_put(struct fetch_stream *stream, const struct batch *batch,
                     struct bt_error *error);

/* The stream has ended. 0, or what the sink says. */
int fetch_stream_end(struct fetch_stream *stream, struct bt_error *error);

/* The kind, once it is known: at the end it is, unless there were no fetches at all. */
enum fetch_kind fetch_stream_kind(const struct fetch_stream *stream);

/* Which kind these records look like, fetches all of them: FETCH_INSTR or FETCH_BUS. */
enum fetch_kind fetch_stream_detect(const struct record *records, size_t count);

struct fetch_stream_counts {
    uint64_t records;            /* of any type */
    uint64_t holes;              /* losses, gaps and missing records */
    struct bus_fetch_counts bus; /* zero where chunks are not taken apart */
};
struct fetch_stream_counts fetch_stream_counts(const struct fetch_stream *stream);

#endif
