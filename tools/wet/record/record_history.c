#include "tools/wet/record/record_history.h"

#include "tools/common/own_stream.h"

int record_history_begin(struct record_history *history, uint64_t dependences,
                         struct bt_error *error)
{
    history->ring = history_ring_new(dependences, 0, error);
    return history->ring ? 0 : error->code;
}

void record_history_clear(struct record_history *history)
{
    history_ring_free(history->ring);
    if (history->stream)
        fclose(history->stream);
}

int record_history_put(void *context, struct wet_code *code, const struct wet_chunk *chunk,
                       uint64_t instructions, struct bt_error *error)
{
    struct record_history *history = context;
    history->code = code;
    return history_ring_put(history->ring, code, chunk, instructions, error);
}

int record_history_close(void *context, const struct wet_closing *closing, struct bt_error *error)
{
    (void)closing;
    struct record_history *history = context;
    struct own_signals signals;
    int result = 0;
    own_stream_hold(&signals);
    if (history->path) /* also of an earlier part of the run */
        result = own_stream_empty(history->stream, history->path, error);
    if (result == 0 && history->code)
        result = history_ring_print(history->ring, history->code, history->stream, &history->totals,
                                    error);
    if (result == 0)
        result = own_stream_finish(history->stream,
                                   history->path ? history->path : "standard error", error);
    own_stream_release(&signals);
    return result;
}
