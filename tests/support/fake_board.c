#include "tests/support/fake_board.h"

#include "formats/wire/packing.h"
#include "tests/support/wire_frames.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct record fake_record(uint64_t index)
{
    return (struct record){.address = (uint32_t)(index * 64),
                           .type = request_type_at(index % REQUEST_TYPES),
                           .size = 8,
                           .processor = index & 3,
                           .time = 10};
}

void fake_board_bytes(struct fake_board *board, const void *bytes, size_t size)
{
    if (board->out_capacity - board->out_size < size) {
        board->out_capacity = 2 * board->out_capacity + size;
        board->out = realloc(board->out, board->out_capacity);
        if (!board->out)
            abort();
    }
    if (size > 0)
        memcpy(board->out + board->out_size, bytes, size);
    board->out_size += size;
}

void fake_board_frame(struct fake_board *board, const struct wire_frame *frame)
{
    uint8_t bytes[WIRE_FRAME_MAX];
    size_t size = wire_frames_put(bytes, frame);
    enum fake_fate fate = board->fate;
    board->fate = FAKE_SENT;
    if (fate == FAKE_SPOILT)
        bytes[size / 2] ^= 0x10;
    if (fate == FAKE_DELAYED && board->delayed_size == 0) {
        memcpy(board->delayed, bytes, size);
        board->delayed_size = size;
        return;
    }
    if (fate != FAKE_LOST)
        fake_board_bytes(board, bytes, size);
    if (fate == FAKE_TWICE)
        fake_board_bytes(board, bytes, size);
    fake_board_bytes(board, board->delayed, board->delayed_size);
    board->delayed_size = 0;
}

/* Returns the tick at which a request is on the bus. */
static uint64_t tick_of(const struct fake_board *board, uint64_t index)
{
    return FAKE_TICK(index) + board->idle_ticks;
}

void fake_board_idle(struct fake_board *board, uint64_t ticks)
{
    board->idle_ticks += ticks;
    board->idle_since += ticks;
}

/* Begins a frame of the current session, or of none. */
static struct wire_frame start_frame(struct fake_board *board, enum wire_kind kind,
                                     const uint8_t *payload, size_t size)
{
    return (struct wire_frame){.version = board->version,
                               .kind = (uint8_t)kind,
                               .session = board->session,
                               .sequence = board->session ? board->sequence++ : 0,
                               .first_tick = tick_of(board, board->accepted),
                               .first_index = board->accepted,
                               .payload = payload,
                               .payload_bytes = (uint16_t)size};
}

static void add_loss(struct fake_board *board, struct wire_frame *frame, unsigned lost)
{
    if (lost == 0)
        return;
    frame->lost = lost;
    frame->lost_first_tick = tick_of(board, board->accepted);
    board->accepted += lost;
    board->lost += lost;
    frame->lost_last_tick = tick_of(board, board->accepted - 1);
    frame->first_index = board->accepted;
    frame->first_tick = tick_of(board, board->accepted);
}

void fake_board_records(struct fake_board *board, unsigned count, unsigned lost)
{
    uint8_t payload[1000 * PACKING_RECORD_MAX_BYTES];
    struct record records[1000];
    bool packed = board->packs || board->configuration.packing == WIRE_DELTA;
    struct wire_frame frame = start_frame(board, packed ? WIRE_PACKED : WIRE_RECORDS, payload, 0);
    add_loss(board, &frame, lost);
    for (unsigned i = 0; i < count; i++)
        records[i] = fake_record(board->accepted + i);
    if (count > 0) {
        uint64_t time = records[0].time + board->idle_since;
        records[0].time = time < UINT32_MAX ? (uint32_t)time : UINT32_MAX;
        board->idle_since = 0;
    }
    if (packed)
        frame.payload_bytes = (uint16_t)wire_frames_pack(payload, records, count);
    else
        records_put(payload, records, count);
    frame.payload_bytes = packed ? frame.payload_bytes : (uint16_t)(count * RECORD_BYTES);
    frame.count = (uint16_t)count;
    board->accepted += count;
    fake_board_frame(board, &frame);
}

static void put_counters(struct fake_board *board, uint8_t *out)
{
    struct wire_counters counters = board->counters;
    counters.tick = tick_of(board, board->accepted);
    counters.seen += board->accepted + counters.filtered + counters.above_4gib + counters.undecoded;
    counters.accepted += board->accepted;
    counters.lost += board->lost;
    counters.frames += board->sequence;
    counters.session = board->armed_session;
    counters.state = board->armed;
    wire_counters_put(out, &counters);
}

void fake_board_heartbeat(struct fake_board *board)
{
    uint8_t payload[WIRE_COUNTERS_BYTES];
    put_counters(board, payload);
    struct wire_frame frame = start_frame(board, WIRE_HEARTBEAT, payload, sizeof payload);
    fake_board_frame(board, &frame);
}

void fake_board_end(struct fake_board *board, uint16_t flags, unsigned lost)
{
    uint8_t payload[WIRE_COUNTERS_BYTES];
    struct wire_frame frame = start_frame(board, WIRE_END, payload, sizeof payload);
    add_loss(board, &frame, lost);
    put_counters(board, payload);
    frame.flags = flags;
    if (board->loses_end)
        board->fate = FAKE_LOST;
    fake_board_frame(board, &frame);
    board->armed = false;
    board->session = 0;
}

/* --- commands --- */

static void reply(struct fake_board *board, const struct wire_command *command, uint8_t status,
                  const uint8_t *body, size_t size)
{
    uint8_t payload[256];
    struct wire_reply header = {.tag = command->tag, .code = command->code, .status = status};
    if (board->wrong_tags > 0) {
        board->wrong_tags--;
        header.tag ^= 1;
    }
    wire_reply_put_header(payload, &header);
    if (size > 0)
        memcpy(payload + WIRE_REPLY_HEADER, body, size);
    struct wire_frame frame = start_frame(board, WIRE_REPLY, payload, WIRE_REPLY_HEADER + size);
    fake_board_frame(board, &frame);
}

static void arm(struct fake_board *board, uint32_t session)
{
    uint8_t payload[WIRE_IDENTITY_BYTES];
    board->session = board->armed_session = session;
    board->sequence = 0;
    board->accepted = board->lost = 0;
    board->idle_ticks = board->idle_since = 0;
    board->armed = true;
    wire_identity_put(payload, &board->identity);
    struct wire_frame frame = start_frame(board, WIRE_START, payload, sizeof payload);
    fake_board_frame(board, &frame);
}

static void self_test(struct fake_board *board, uint32_t frames)
{
    uint8_t payload[4080];
    for (uint32_t i = 0; i < frames; i++) {
        struct wire_frame frame = start_frame(board, WIRE_PATTERN, payload, sizeof payload);
        frame.sequence = i;
        frame.first_index = i * sizeof payload / 8;
        wire_pattern_fill(payload, sizeof payload, frame.first_index);
        if (board->pattern_bad > 0) {
            board->pattern_bad--;
            payload[i] ^= 1;
        }
        if (board->pattern_missing > 0) {
            board->pattern_missing--;
            continue;
        }
        fake_board_frame(board, &frame);
    }
}

static void obey(struct fake_board *board, const struct wire_command *command)
{
    uint8_t body[WIRE_IDENTITY_BYTES];
    size_t size = 0;
    if (command->code < 8)
        board->heard[command->code]++;
    if (board->ignored_codes >> command->code & 1u)
        return;
    if (board->silent > 0) {
        board->silent--;
        return;
    }
    if (command->code == WIRE_IDENTIFY) {
        wire_identity_put(body, &board->identity);
        size = WIRE_IDENTITY_BYTES;
    } else if (board->refusal) {
        reply(board, command, board->refusal, NULL, 0);
        return;
    }
    if (command->code == WIRE_STATUS) {
        put_counters(board, body);
        size = WIRE_COUNTERS_BYTES;
    }
    reply(board, command, WIRE_OK, body, size);
    if (command->code == WIRE_CONFIGURE)
        (void)wire_configuration_get(&board->configuration, command->body, command->body_bytes);
    else if (command->code == WIRE_ARM)
        arm(board, bytes_get32(command->body));
    else if (command->code == WIRE_STOP && board->armed)
        fake_board_end(board, 0, 0);
    else if (command->code == WIRE_SELF_TEST)
        self_test(board, bytes_get32(command->body));
    if (board->unplugged_by >> command->code & 1u)
        board->unplugged = true;
}

/* --- the stream --- */

static long fake_read(struct stream *stream, uint8_t *bytes, size_t capacity, int timeout_ms,
                      struct bt_error *error)
{
    struct fake_board *board = (struct fake_board *)stream;
    size_t size = board->out_size - board->out_at;
    board->reads++;
    if (size == 0 && board->closes)
        return bt_fail(error, BT_CLOSED, "the fake board was unplugged");
    if (size == 0 && board->babbles) {
        memset(bytes, 0xa5, capacity);
        return (long)capacity;
    }
    if (size == 0) {
        struct timespec pause = {.tv_sec = timeout_ms / 1000,
                                 .tv_nsec = timeout_ms % 1000 * 1000000};
        struct timespec late = {.tv_sec = board->late_ms / 1000,
                                .tv_nsec = board->late_ms % 1000 * 1000000L};
        board->late_ms = 0;
        if (timeout_ms > 0 && !board->impatient)
            nanosleep(&pause, NULL);
        nanosleep(&late, NULL);
        return bt_fail(error, BT_TIMEOUT, "the fake board is silent");
    }
    struct timespec slow = {.tv_nsec = board->slow_ms * 1000000L};
    if (board->slow_ms > 0)
        nanosleep(&slow, NULL);
    size = size < capacity ? size : capacity;
    if (board->piece > 0 && size > board->piece)
        size = board->piece;
    memcpy(bytes, board->out + board->out_at, size);
    board->out_at += size;
    return (long)size;
}

static int fake_write(struct stream *stream, const uint8_t *bytes, size_t size, int timeout_ms,
                      struct bt_error *error)
{
    struct fake_board *board = (struct fake_board *)stream;
    (void)timeout_ms;
    if (board->takes_nothing)
        return bt_fail(error, BT_CLOSED, "the fake board was unplugged");
    if (board->stuffed)
        return bt_fail(error, BT_TIMEOUT, "the fake board takes nothing");
    for (size_t at = 0; at < size;) {
        struct wire_command command;
        int used = wire_command_get(&command, bytes + at, size - at);
        if (used <= 0)
            abort(); /* a session writes whole commands and nothing else */
        obey(board, &command);
        at += (size_t)used;
    }
    return 0;
}

static const char *fake_name(struct stream *stream)
{
    (void)stream;
    return "fake";
}

static int fake_diagnose(struct stream *stream, struct bt_error *error)
{
    struct fake_board *board = (struct fake_board *)stream;
    return board->diagnosis ? bt_fail(error, board->diagnosis, "%s", board->explanation) : 0;
}

static void fake_close(struct stream *stream)
{
    struct fake_board *board = (struct fake_board *)stream;
    if (board->freed)
        *board->freed = true;
    free(board->out);
    free(board);
}

/* --- a cable to the board --- */

struct cable {
    struct stream stream;
    struct fake_board *board;
    bool cut; /* permanently: another cable is plugged in */
};

static long cable_read(struct stream *stream, uint8_t *bytes, size_t capacity, int timeout_ms,
                       struct bt_error *error)
{
    struct cable *cable = (struct cable *)stream;
    cable->cut = cable->cut || cable->board->unplugged;
    if (cable->cut)
        return bt_fail(error, BT_CLOSED, "the cable was unplugged");
    return fake_read(&cable->board->stream, bytes, capacity, timeout_ms, error);
}

static int cable_write(struct stream *stream, const uint8_t *bytes, size_t size, int timeout_ms,
                       struct bt_error *error)
{
    struct cable *cable = (struct cable *)stream;
    cable->cut = cable->cut || cable->board->unplugged;
    if (cable->cut)
        return bt_fail(error, BT_CLOSED, "the cable was unplugged");
    return fake_write(&cable->board->stream, bytes, size, timeout_ms, error);
}

static const char *cable_specification(struct stream *stream)
{
    return ((struct cable *)stream)->board->specification;
}

static void cable_close(struct stream *stream)
{
    free(stream);
}

struct stream *fake_board_cable(struct fake_board *board)
{
    static const struct stream_operations operations = {.read = cable_read,
                                                        .write = cable_write,
                                                        .name = fake_name,
                                                        .specification = cable_specification,
                                                        .close = cable_close};
    struct cable *cable = calloc(1, sizeof *cable);
    if (!cable)
        abort();
    cable->stream.operations = &operations;
    cable->board = board;
    return &cable->stream;
}

void fake_board_lose_line(struct fake_board *board)
{
    board->out_at = board->out_size = 0;
}

void fake_board_restart(struct fake_board *board)
{
    fake_board_lose_line(board);
    board->armed = false;
    board->session = board->armed_session = board->sequence = 0;
    board->accepted = board->lost = 0;
    board->counters = (struct wire_counters){0};
}

struct fake_board *fake_board_new(void)
{
    static const struct stream_operations operations = {.read = fake_read,
                                                        .write = fake_write,
                                                        .name = fake_name,
                                                        .diagnose = fake_diagnose,
                                                        .close = fake_close};
    struct fake_board *board = calloc(1, sizeof *board);
    if (!board)
        abort();
    board->stream.operations = &operations;
    board->version = WIRE_VERSION;
    board->identity = (struct wire_identity){.protocol = WIRE_VERSION,
                                             .bus = WIRE_BUS_P6,
                                             .queue_frames = 64,
                                             .payload_max = 4080,
                                             .firmware = 0x00010000,
                                             .clock_hz = 66000000,
                                             .name = "fake board",
                                             .serial = "F1"};
    return board;
}
