/*
 * A complete session with a board that sends anything. The input is a script of the data on the
 * link: raw bytes, or frames with correct checksums and with the tags and session ids that the
 * host expects, so that the search gets past those checks. At the end the board is unplugged.
 */
#include "driver/session.h"

#include "tests/support/wire_frames.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BATCH_RECORDS 16u
#define CALLS_MAX     20000u

struct scripted {
    struct stream stream; /* first */
    const uint8_t *data;
    size_t size, at;
    uint8_t out[WIRE_FRAME_MAX];
    size_t out_at, out_size;
    uint32_t tag, session;
    uint8_t code;
};

static size_t take(struct scripted *board, uint8_t *bytes, size_t size)
{
    size_t left = board->size - board->at;
    size_t count = size < left ? size : left;
    memcpy(bytes, board->data + board->at, count);
    memset(bytes + count, 0, size - count);
    board->at += count;
    return count;
}

/* Makes a frame of 8 bytes of script (kind, count, sequence, index, lost, tick, sizes) and a
 * payload.
 */
static void make_frame(struct scripted *board)
{
    uint8_t script[8];
    uint8_t payload[WIRE_PAYLOAD_MAX] = {0};
    (void)take(board, script, sizeof script);
    uint16_t payload_bytes = (uint16_t)(script[7] * 4u);
    struct wire_frame frame = {.version = script[0] & 0x80 ? 2 : WIRE_VERSION,
                               .kind = script[0] & 0x0f,
                               .flags = script[0] & 0x40 ? WIRE_FLAG_BUS_ENDED : 0,
                               .session = script[0] & 0x20 ? 77 : board->session,
                               .sequence = script[1],
                               .first_tick = (uint64_t)script[2] << (script[2] & 63),
                               .first_index = (uint64_t)script[3] << (script[6] & 63),
                               .lost = (uint64_t)script[4] << (script[5] & 63),
                               .count = script[5],
                               .payload = payload,
                               .payload_bytes = payload_bytes};
    if (frame.kind == WIRE_REPLY) {
        const struct wire_reply reply = {
            .tag = board->tag, .code = board->code, .status = script[1] & 7};
        wire_reply_put_header(payload, &reply);
        (void)take(board, payload + WIRE_REPLY_HEADER, payload_bytes);
        frame.payload_bytes += WIRE_REPLY_HEADER;
    } else {
        (void)take(board, payload, payload_bytes);
    }
    board->out_at = 0;
    board->out_size = wire_frames_put(board->out, &frame);
}

static long scripted_read(struct stream *stream, uint8_t *bytes, size_t capacity, int timeout_ms,
                          struct bt_error *error)
{
    struct scripted *board = (struct scripted *)stream;
    uint8_t step;
    (void)timeout_ms;
    if (board->out_at == board->out_size) {
        if (take(board, &step, 1) == 0)
            return bt_fail(error, BT_CLOSED, "the script is over");
        if (step == 0xff)
            return bt_fail(error, BT_TIMEOUT, "nothing");
        if (step & 0x80) {
            make_frame(board);
        } else {
            board->out_at = 0;
            board->out_size = take(board, board->out, step);
            if (board->out_size == 0)
                return bt_fail(error, BT_TIMEOUT, "nothing");
        }
    }
    size_t size = board->out_size - board->out_at;
    size = size < capacity ? size : capacity;
    memcpy(bytes, board->out + board->out_at, size);
    board->out_at += size;
    return (long)size;
}

static int scripted_write(struct stream *stream, const uint8_t *bytes, size_t size, int timeout_ms,
                          struct bt_error *error)
{
    struct scripted *board = (struct scripted *)stream;
    struct wire_command command;
    (void)timeout_ms;
    (void)error;
    if (wire_command_get(&command, bytes, size) != (int)size)
        abort();
    board->tag = command.tag;
    board->code = command.code;
    if (command.code == WIRE_ARM)
        board->session = bytes_get32(command.body);
    return 0;
}

static const char *scripted_name(struct stream *stream)
{
    (void)stream;
    return "scripted";
}

/* The session frees the board's memory when the fuzzer's function does. */
static void scripted_close(struct stream *stream)
{
    (void)stream;
}

/* Every batch keeps these rules, whatever the board sent. */
static void check(const struct batch *batch, uint64_t *end)
{
    uint64_t lost = loss_total(&batch->lost);
    if (batch->count > batch->capacity || (batch->count == 0 && lost == 0) ||
        batch->first_index - *end != lost)
        abort();
    *end = batch->first_index + batch->count;
}

static void capture(struct session *session)
{
    struct source *source = session_source(session);
    struct record records[BATCH_RECORDS];
    struct batch batch = {.records = records, .capacity = BATCH_RECORDS};
    struct bt_error error = {0};
    uint64_t end = 0;
    uint64_t total = 0;
    struct session_statistics statistics;
    for (unsigned call = 0; call < CALLS_MAX; call++) {
        int result = source_next(source, &batch, call & 1 ? 0 : 5, &error);
        if (result == 1) {
            check(&batch, &end);
            total += batch.count;
        }
        if (result == 0 || (result < 0 && result != BT_TIMEOUT && result != BT_DATA))
            break;
        if (call == 20)
            (void)source_stop(source, &error);
        if (call + 1 == CALLS_MAX)
            abort(); /* the script is finite, so the session must end */
    }
    session_statistics(session, &statistics);
    if (statistics.records < total)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct stream_operations operations = {.read = scripted_read,
                                                        .write = scripted_write,
                                                        .name = scripted_name,
                                                        .close = scripted_close};
    struct bt_error error = {0};
    struct scripted *board = calloc(1, sizeof *board);
    if (!board || size < 2) {
        free(board);
        return 0;
    }
    board->stream.operations = &operations;
    board->data = data;
    board->size = size;
    uint8_t what = data[board->at++];
    struct session *session = session_new(&board->stream, &error);
    if (session && what & 1) {
        struct session_test_result result;
        struct wire_counters counters;
        (void)session_status(session, &counters, &error);
        (void)session_self_test(session, what, &result, &error);
    }
    if (session) {
        struct session_settings settings = session_settings_default();
        if (session_arm(session, &settings, &error) == 0)
            capture(session);
    }
    session_free(session);
    free(board);
    return 0;
}
