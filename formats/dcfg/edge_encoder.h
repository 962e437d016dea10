/*
 * Encodes the edges of a process's threads: from edge ids to a transition table and chunks
 * (DCFG-trace 1.00, sections 3.5 to 3.7). The string dictionary stays empty and no sequence has a
 * repeat: doc/benchmarks.md has what both would save.
 *
 * Edges are taken once, in any mixture of threads, and cut into words chunk by chunk. A temporary
 * file keeps the words. At the end, the number of uses of each word makes the table. Memory is
 * proportional to the number of different edges and of threads, not to the length of the stream,
 * except for some 100 bytes a chunk.
 */
#ifndef FORMATS_DCFG_EDGE_ENCODER_H
#define FORMATS_DCFG_EDGE_ENCODER_H

#include "formats/base/named_fields.h"
#include "formats/dcfg/transition_table.h"

struct edge_encoder;

struct NAMED_FIELDS edge_encoder_settings {
    uint32_t edge_max; /* edges are 1 to edge_max, which should not be much more than there are */
    uint32_t chunk_edges; /* the most edges of a chunk; 0: a default */
    /*
     * By edge id, up to edge_max: the instructions of its source node, 0 for START. Must stay until
     * edge_encoder_finish. NULL: instructions are not counted.
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
 * The next edges of a thread. 0; BT_USAGE: an edge id that is not 1 to edge_max; BT_MEMORY, BT_IO
 * or BT_FULL: the encoder is then of no use any more.
 */
int edge_encoder_put(struct edge_encoder *encoder, uint32_t thread, const uint32_t *edges,
                     size_t count, struct bt_error *error);

/*
 * Something is missing in a thread's stream: what was put so far and what comes are in different
 * chunks, with that many instructions between them. Errors as edge_encoder_put.
 */
int edge_encoder_gap(struct edge_encoder *encoder, uint32_t thread, uint64_t instructions,
                     struct bt_error *error);

/* All edges were put: makes what follows available. Errors as edge_encoder_put. */
int edge_encoder_finish(struct edge_encoder *encoder, struct bt_error *error);

/*
 * The rows of the transition table: returns 1 and fills *row (next is of no meaning; edges: room
 * for EDGE_ENCODER_ROW_MAX) for the next row, beginning with *position 0; or 0 behind the last.
 */
#define EDGE_ENCODER_ROW_MAX 128u
int edge_encoder_row(const struct edge_encoder *encoder, size_t *position,
                     struct transition_row *row, uint32_t *edges);

/* The chunks, those of a thread together and in their order. */
size_t edge_encoder_chunks(const struct edge_encoder *encoder);
const struct edge_chunk *edge_encoder_chunk(const struct edge_encoder *encoder, size_t i);

/* Text that grows. Zeroed is empty; free(text.text). */
struct NAMED_FIELDS edge_encoder_text {
    char *text;
    size_t length, capacity;
};

/* Appends the EDGE_ID_SEQUENCE of a chunk, and 0. 0, BT_MEMORY or BT_IO. */
int edge_encoder_sequence(struct edge_encoder *encoder, size_t i, struct edge_encoder_text *text,
                          struct bt_error *error);

#endif
