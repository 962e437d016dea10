#include "tests/support/memory_board.h"

#include "driver/session.h"
#include "formats/base/crc32c.h"
#include "formats/wire/packing.h"
#include "tests/support/wire_frames.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A frame of the round in memory. */
struct stored_frame {
    size_t offset, size;
    uint16_t count;
    uint64_t index; /* of its first record, in the round */
    uint64_t tick;  /* of its first record, in the round */
};

struct memory_board {
    struct stream stream;
    uint8_t *bytes;
    size_t size;
    struct stored_frame *frames;
    size_t frame_count;
    size_t round_records;
    uint64_t round_ticks;
    uint64_t total;
    enum wire_packing packing;
    bool armed;
    uint32_t session, sequence;
    size_t frame; /* current frame */
    size_t taken; /* bytes of it that were read */
    uint64_t round;
    uint64_t sent_bytes;
    uint8_t small[4 * WIRE_FRAME_MAX]; /* replies, START, END */
    size_t small_size, small_taken;
};

/* Appends a frame with a small payload to those that wait. */
static void put_small(struct memory_board *board, struct wire_frame *frame, const uint8_t *payload)
{
    uint8_t *out = board->small + board->small_size;
    frame->version = WIRE_VERSION;
    frame->session = board->session;
    if (board->session)
        frame->sequence = board->sequence++;
    frame->payload = payload;
    board->small_size += wire_frames_put(out, frame);
}

static void put_reply(struct memory_board *board, const struct wire_command *command,
                      const uint8_t *body, size_t size)
{
    uint8_t payload[WIRE_REPLY_HEADER + WIRE_IDENTITY_BYTES];
    const struct wire_reply reply = {.tag = command->tag, .code = command->code};
    wire_reply_put_header(payload, &reply);
    memcpy(payload + WIRE_REPLY_HEADER, body, size);
    struct wire_frame frame = {.kind = WIRE_REPLY,
                               .payload_bytes = (uint16_t)(WIRE_REPLY_HEADER + size)};
    put_small(board, &frame, payload);
}

static void put_end(struct memory_board *board)
{
    const struct wire_counters counters = {.seen = board->total, .accepted = board->total};
    uint8_t payload[WIRE_COUNTERS_BYTES];
    wire_counters_put(payload, &counters);
    struct wire_frame frame = {.kind = WIRE_END,
                               .flags = WIRE_FLAG_BUS_ENDED,
                               .first_index = board->total,
                               .first_tick = board->round * board->round_ticks +
                                             board->frames[board->frame].tick,
                               .payload_bytes = sizeof payload};
    put_small(board, &frame, payload);
    board->armed = false;
}

static void obey(struct memory_board *board, const struct wire_command *command)
{
    const struct wire_identity identity = {.protocol = WIRE_VERSION,
                                           .bus = WIRE_BUS_P6,
                                           .queue_frames = 4,
                                           .payload_max = WIRE_PAYLOAD_MAX,
                                           .firmware = 0x00010000,
                                           .clock_hz = MEMORY_BOARD_CLOCK_HZ,
                                           .name = "memory",
                                           .serial = "0"};
    uint8_t body[WIRE_IDENTITY_BYTES];
    wire_identity_put(body, &identity);
    put_reply(board, command, body, command->code == WIRE_IDENTIFY ? sizeof body : 0);
    if (command->code == WIRE_ARM && command->body_bytes == 4) {
        board->session = bytes_get32(command->body);
        board->sequence = 0;
        board->armed = true;
        struct wire_frame frame = {.kind = WIRE_START, .payload_bytes = sizeof body};
        put_small(board, &frame, body);
    } else if (command->code == WIRE_STOP && board->armed) {
        board->total = board->round * board->round_records + board->frames[board->frame].index;
        put_end(board);
    }
}

static int board_write(struct stream *stream, const uint8_t *bytes, size_t size, int timeout_ms,
                       struct bt_error *error)
{
    struct memory_board *board = (struct memory_board *)stream;
    struct wire_command command;
    (void)timeout_ms;
    if (wire_command_get(&command, bytes, size) != (int)size)
        return bt_fail(error, BT_DEVICE, "the memory board takes whole commands only");
    if (board->small_taken == board->small_size)
        board->small_taken = board->small_size = 0;
    obey(board, &command);
    return 0;
}

/* Sets the current frame's header to its position in the session. */
static void renew_header(struct memory_board *board)
{
    const struct stored_frame *stored = &board->frames[board->frame];
    const struct wire_frame frame = {
        .version = WIRE_VERSION,
        .kind = board->packing == WIRE_DELTA ? WIRE_PACKED : WIRE_RECORDS,
        .session = board->session,
        .sequence = board->sequence++,
        .first_tick = board->round * board->round_ticks + stored->tick,
        .first_index = board->round * board->round_records + stored->index,
        .count = stored->count,
        .payload_bytes = (uint16_t)(stored->size - WIRE_FRAME_HEADER - WIRE_FRAME_TRAILER)};
    wire_frame_put_header(board->bytes + stored->offset, &frame);
}

/* Copies the part of the current frame that fits; at its end continues with the next one. */
static size_t take_frame(struct memory_board *board, uint8_t *out, size_t capacity)
{
    const struct stored_frame *stored = &board->frames[board->frame];
    if (board->taken == 0)
        renew_header(board);
    size_t size = stored->size - board->taken;
    size = size < capacity ? size : capacity;
    memcpy(out, board->bytes + stored->offset + board->taken, size);
    board->taken += size;
    if (board->taken == stored->size) {
        board->taken = 0;
        if (++board->frame == board->frame_count) {
            board->frame = 0;
            board->round++;
            if (board->round * board->round_records >= board->total)
                put_end(board);
        }
    }
    return size;
}

static long board_read(struct stream *stream, uint8_t *bytes, size_t capacity, int timeout_ms,
                       struct bt_error *error)
{
    struct memory_board *board = (struct memory_board *)stream;
    size_t size = 0;
    (void)timeout_ms;
    while (size < capacity) {
        size_t small = board->small_size - board->small_taken;
        if (board->taken == 0 && small) {
            small = small < capacity - size ? small : capacity - size;
            memcpy(bytes + size, board->small + board->small_taken, small);
            board->small_taken += small;
            size += small;
        } else if (board->armed) {
            size += take_frame(board, bytes + size, capacity - size);
        } else {
            break;
        }
    }
    board->sent_bytes += size;
    return size ? (long)size : bt_fail(error, BT_TIMEOUT, "the memory board has no data");
}

static const char *board_name(struct stream *stream)
{
    (void)stream;
    return "memory";
}

static void board_close(struct stream *stream)
{
    struct memory_board *board = (struct memory_board *)stream;
    free(board->bytes);
    free(board->frames);
    free(board);
}

/* Stores one frame with as many of the records as fit; returns their number. */
static size_t store_frame(struct memory_board *board, const struct record *records, size_t count)
{
    struct stored_frame *frame = &board->frames[board->frame_count++];
    uint8_t *payload = board->bytes + board->size + WIRE_FRAME_HEADER;
    struct packing packing;
    size_t size = 0;
    size_t taken = 0;
    packing_reset(&packing);
    size_t most = board->packing == WIRE_DELTA ? PACKING_RECORD_MAX_BYTES : RECORD_BYTES;
    while (taken < count && taken < WIRE_FRAME_RECORDS_MAX && size + most <= WIRE_PAYLOAD_MAX) {
        const struct record *record = &records[taken++];
        if (board->packing == WIRE_DELTA) {
            size += packing_put(&packing, record, payload + size);
        } else {
            record_put(payload + size, record);
            size += RECORD_BYTES;
        }
    }
    bytes_put32(payload + size, crc32c(0, payload, size));
    *frame = (struct stored_frame){.offset = board->size,
                                   .size = WIRE_FRAME_HEADER + size + WIRE_FRAME_TRAILER,
                                   .count = (uint16_t)taken,
                                   .index = board->round_records,
                                   .tick = board->round_ticks + records[0].time};
    board->round_records += taken;
    board->round_ticks += records_time(records, taken);
    board->size += frame->size;
    return taken;
}

struct stream *memory_board_new(const struct record *records, size_t count, uint64_t total,
                                enum wire_packing packing)
{
    static const struct stream_operations operations = {.backpressure = true,
                                                        .read = board_read,
                                                        .write = board_write,
                                                        .name = board_name,
                                                        .close = board_close};
    struct memory_board *board = calloc(1, sizeof *board);
    size_t per_frame = WIRE_PAYLOAD_MAX / PACKING_RECORD_MAX_BYTES; /* the minimum */
    size_t frames = count / per_frame + 1;
    if (board) {
        board->bytes = malloc(frames * WIRE_FRAME_MAX);
        board->frames = calloc(frames, sizeof *board->frames);
    }
    if (!board || !board->bytes || !board->frames) {
        fputs("memory_board: no memory\n", stderr);
        abort();
    }
    board->stream.operations = &operations;
    board->total = total;
    board->packing = packing;
    for (size_t done = 0; done < count;)
        done += store_frame(board, records + done, count - done);
    return &board->stream;
}

struct source *memory_board_source(struct stream *board, enum wire_packing packing)
{
    struct bt_error error;
    struct session_settings settings = session_settings_default();
    settings.packing = packing;
    struct session *session = session_new(board, &error);
    if (!session) {
        fprintf(stderr, "memory_board: %s\n", error.message);
        abort();
    }
    session_prepare(session, &settings);
    return session_source(session);
}

uint64_t memory_board_bytes(const struct stream *stream)
{
    return ((const struct memory_board *)stream)->sent_bytes;
}
