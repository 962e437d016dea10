/*
 * A byte stream to and from a board: what FTDI chips and virtual boards have in common.
 * One thread reads; writes may come from the same thread.
 */
#ifndef DRIVER_STREAM_H
#define DRIVER_STREAM_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream;

struct stream_operations {
    bool backpressure; /* the bus waits for the host: nothing is lost */
    bool program;      /* at the other end: it has neither cable nor power to be checked */
    /*
     * Reads available bytes, at most capacity, waiting up to timeout_ms (< 0: for ever) for the
     * first. Returns their number (> 0), BT_TIMEOUT, BT_CLOSED (unplugged, or the other end is
     * closed), or another negative code.
     */
    long (*read)(struct stream *stream, uint8_t *bytes, size_t capacity, int timeout_ms,
                 struct bt_error *error);
    /* Writes all size bytes within timeout_ms (< 0: no limit). 0, BT_TIMEOUT, or
     * another negative code. */
    int (*write)(struct stream *stream, const uint8_t *bytes, size_t size, int timeout_ms,
                 struct bt_error *error);
    /* A name for messages: "virtual:smp=4", "FT232H serial BT0001". */
    const char *(*name)(struct stream *stream);
    /* The specification (driver/boards.h) that selects exactly this board when it returns; NULL, or
     * NULL returned, if it cannot return. Valid as long as the stream. */
    const char *(*specification)(struct stream *stream);
    /* Why the far end misbehaved, if the stream knows more than the reader (a virtual bus that
     * failed): 0 or a code. */
    int (*diagnose)(struct stream *stream, struct bt_error *error);
    void (*close)(struct stream *stream);
};

struct stream {
    const struct stream_operations *operations;
};

static inline long stream_read(struct stream *stream, uint8_t *bytes, size_t capacity,
                               int timeout_ms, struct bt_error *error)
{
    return stream->operations->read(stream, bytes, capacity, timeout_ms, error);
}

static inline int stream_write(struct stream *stream, const uint8_t *bytes, size_t size,
                               int timeout_ms, struct bt_error *error)
{
    return stream->operations->write(stream, bytes, size, timeout_ms, error);
}

static inline const char *stream_name(struct stream *stream)
{
    return stream->operations->name(stream);
}

static inline const char *stream_specification(struct stream *stream)
{
    return stream->operations->specification ? stream->operations->specification(stream) : NULL;
}

static inline int stream_diagnose(struct stream *stream, struct bt_error *error)
{
    return stream->operations->diagnose ? stream->operations->diagnose(stream, error) : 0;
}

static inline void stream_close(struct stream *stream)
{
    if (stream)
        stream->operations->close(stream);
}

#endif
