/* Where a limited history goes: into memory, and as text to a stream at the end. */
#ifndef TOOLS_WET_RECORD_RECORD_HISTORY_H
#define TOOLS_WET_RECORD_RECORD_HISTORY_H

#include "tools/wet/record/history_ring.h"
#include "tools/wet/record/recorder.h"

#define RECORD_HISTORY_BLOCKS (UINT64_C(1) << 17) /* of a chunk */

/* Zeroed is none. */
struct record_history {
    FILE *stream;     /* own_stream_open(), or _on(); closed by record_history_clear() */
    const char *path; /* NULL: standard error */
    struct history_ring *ring;
    const struct wet_code *code; /* of the latest chunk; the recorder's */
    struct history_ring_totals totals;
};

/* Keeps so many dependences. 0 or BT_MEMORY; clear it in either case. */
int record_history_begin(struct record_history *history, uint64_t dependences,
                         struct bt_error *error);
void record_history_clear(struct record_history *history);

/* The functions of struct record_sink; the context is the history. close() prints it, again if
 * recording has continued after the last time. */
int record_history_put(void *context, struct wet_code *code, const struct wet_chunk *chunk,
                       uint64_t instructions, struct bt_error *error);
int record_history_close(void *context, const struct wet_closing *closing, struct bt_error *error);

#endif
