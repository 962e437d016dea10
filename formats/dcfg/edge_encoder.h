/*
 * Encodes the edges of a process's threads: from edge ids to a transition table and chunks
 * (DCFG-trace 1.00, sections 3.5 to 3.7). The string dictionary stays empty and no sequence has a
 * repeat: doc/benchmarks.md shows how little they would save.
 *
 * One pass takes the edges, the threads interleaved in any way, and parses them into phrases chunk
 * by chunk (phrases.h). A temporary file holds the phrases. At the end the numbers of uses give the
 * codes of the table. Memory is proportional to the number of different edges and of threads, not
 * to the length of the stream, except for about 100 bytes a chunk.
 */
#ifndef FORMATS_DCFG_EDGE_ENCODER_H
#define FORMATS_DCFG_EDGE_ENCODER_H

#include "formats/base/named_fields.h"
#include "formats/dcfg/transition_table.h"

struct edge_encoder;

struct NAMED_FIELDS edge_encoder_settings {
    uint32_t edge_max;    /* largest edge id; memory grows with it, so ids should be dense */
    uint32_t chunk_edges; /* most edges of a chunk; 0: a default */
    /*
     * By edge id, up to edge_max: number of instructions of the edge's source node, 0 for START.
     * Must stay valid until edge_encoder_finish. NULL: instructions are not counted.
     */
    const uint32_t *instructions;
};

struct edge_chunk {
    uint32_t thread;
    uint32_t first;        /* FIRST_EDGE_ID */
    uint64_t edges;        /* EDGE_COUNT */
    uint64_t preceding;    /* PRECEDING_INSTR_COUNT */
    uint64_t instructions; /* INSTR_COUNT */
};

/* 0, BT_USAGE, BT_MEMORY or BT_IO. */
int edge_encoder_new(struct edge_encoder **encoder, const struct edge_encoder_settings *settings,
                     struct bt_error *error);
void edge_encoder_free(struct edge_encoder *encoder);

/*
 * Takes the next edges of a thread. 0; BT_USAGE: an edge id that is not 1 to edge_max; BT_MEMORY,
 * BT_IO or BT_FULL: the encoder can then only be freed.
 */
int edge_encoder_put(struct edge_encoder *encoder, uint32_t thread, const uint32_t *edges,
                     size_t count, struct bt_error *error);

/*
 * Marks a gap in a thread's stream: the edges before and after it are in different chunks, with
 * `instructions` between them. Errors as edge_encoder_put.
 */
int edge_encoder_gap(struct edge_encoder *encoder, uint32_t thread, uint64_t instructions,
                     struct bt_error *error);

/* Ends the input. The functions below may be called after it. Errors as edge_encoder_put. */
int edge_encoder_finish(struct edge_encoder *encoder, struct bt_error *error);

/*
 * Iterates over the rows of the transition table: *position is 0 at first. Returns 1 and fills *row
 * except row->next, and edges, which has room for EDGE_ENCODER_ROW_MAX; or 0 after the last row.
 */
#define EDGE_ENCODER_ROW_MAX 128u
int edge_encoder_row(const struct edge_encoder *encoder, size_t *position,
                     struct transition_row *row, uint32_t *edges);

/* The chunks, grouped by thread and in the thread's order. */
size_t edge_encoder_chunks(const struct edge_encoder *encoder);
const struct edge_chunk *edge_encoder_chunk(const struct edge_encoder *encoder, size_t i);

/* A growing text. Zeroed is empty; the caller frees text.text. */
struct NAMED_FIELDS edge_encoder_text {
    char *text;
    size_t length, capacity;
};

/* Appends the EDGE_ID_SEQUENCE of chunk i and a NUL. 0, BT_MEMORY or BT_IO. */
int edge_encoder_sequence(struct edge_encoder *encoder, size_t i, struct edge_encoder_text *text,
                          struct bt_error *error);

#endif
