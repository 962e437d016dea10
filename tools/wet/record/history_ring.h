/*
 * The limited history of a program (WET Trace Format, "Dynamic Dependences for a Limited Execution
 * History"): keeps what was recorded in memory, and prints its last dependences.
 *
 * Chunks are kept as they were recorded, a fraction of a byte for each instruction. When they need
 * too much memory, the oldest are replayed into the state that the others begin with.
 */
#ifndef TOOLS_WET_RECORD_HISTORY_RING_H
#define TOOLS_WET_RECORD_HISTORY_RING_H

#include "formats/wet/wet_file.h"

#include <stdio.h>

#define HISTORY_RING_DEPENDENCES UINT64_C(100000) /* default number, from the specification */
#define HISTORY_RING_BYTES       ((size_t)160 << 20)

struct history_ring;

/* Prints the last `dependences` (at least 1); keeps at most about `bytes` of chunks (0:
 * HISTORY_RING_BYTES). NULL and *error without memory. Free with history_ring_free(), which accepts
 * NULL. */
struct history_ring *history_ring_new(uint64_t dependences, size_t bytes, struct bt_error *error);
void history_ring_free(struct history_ring *ring);

/* Takes the next chunk: record_sink.put. 0, BT_MEMORY, or BT_DATA. */
int history_ring_put(struct history_ring *ring, struct wet_code *code,
                     const struct wet_chunk *chunk, uint64_t instructions, struct bt_error *error);

struct history_ring_totals {
    uint64_t printed; /* lines */
    uint64_t before; /* ports that were read in the printed part, and that nothing recorded wrote */
};

/* Prints the last dependences, the oldest first. The code is that of the chunks. 0 or a negative
 * code. */
int history_ring_print(struct history_ring *ring, const struct wet_code *code, FILE *out,
                       struct history_ring_totals *totals, struct bt_error *error);

#endif
