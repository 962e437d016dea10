#include "firmware/board_commands.h"

#include "firmware/board_frames.h"
#include "firmware/board_records.h"

/* A command queues at most two frames: its reply, and START or END. */
#define FRAMES_PER_COMMAND 2u

struct wire_configuration board_commands_default(void)
{
    return (struct wire_configuration){
        .filter = filter_all(), .packing = WIRE_PLAIN, .flush_us = 20000, .heartbeat_ms = 250};
}

void board_commands_configure(struct board *board, const struct wire_configuration *configuration)
{
    struct filter all = filter_all();
    const struct filter *filter = &configuration->filter;
    board->configuration = *configuration;
    board->filtering = filter->types != all.types || filter->processors != all.processors ||
                       filter->range_count > 0;
    board->record_longest =
        configuration->packing == WIRE_DELTA ? PACKING_RECORD_MAX_BYTES : RECORD_BYTES;
}

static bool at_rest(const struct board *board)
{
    return board->state == BOARD_IDLE && board->pattern_left == 0;
}

static uint8_t configure(struct board *board, const struct wire_command *command)
{
    struct wire_configuration configuration;
    if (wire_configuration_get(&configuration, command->body, command->body_bytes) < 0)
        return WIRE_BAD_BODY;
    if (configuration.stall && !board->bus.stall)
        return WIRE_BAD_BODY;
    if (!at_rest(board))
        return WIRE_BAD_STATE;
    board_commands_configure(board, &configuration);
    return WIRE_OK;
}

static uint8_t self_test(struct board *board, const struct wire_command *command)
{
    if (command->body_bytes != 4)
        return WIRE_BAD_BODY;
    if (!at_rest(board))
        return WIRE_BAD_STATE;
    board->pattern_left = bytes_get32(command->body);
    board->pattern_frame = 0;
    board->pattern_index = 0;
    return WIRE_OK;
}

static uint8_t may_arm(const struct board *board, const struct wire_command *command)
{
    if (command->body_bytes != 4 || bytes_get32(command->body) == 0)
        return WIRE_BAD_BODY;
    return at_rest(board) ? WIRE_OK : WIRE_BAD_STATE;
}

/* The session begins after the reply that grants it. */
static void arm(struct board *board, uint32_t session)
{
    board_records_reset(board);
    board->session = session;
    board->counters.session = session;
    board->sequence = 0;
    board->state = BOARD_ARMED;
    board->heartbeat_us = board->microseconds;
    board->heartbeats_queued = board->queue.sent;
    wire_identity_put(board_frames_begin(board), &board->identity);
    board_frames_end(board, WIRE_START, WIRE_IDENTITY_BYTES);
}

/* Also ends a self-test; without a session or a test it succeeds. */
static void stop(struct board *board)
{
    board->pattern_left = 0;
    if (board->state == BOARD_ARMED)
        board->state = BOARD_DRAINING;
}

/* The body of a reply; returns its bytes. */
static size_t identify(const struct board *board, uint8_t *body)
{
    wire_identity_put(body, &board->identity);
    return WIRE_IDENTITY_BYTES;
}

static uint8_t judge(struct board *board, const struct wire_command *command)
{
    if (command->code == WIRE_IDENTIFY)
        return WIRE_OK; /* in any version: the reply contains the board's version */
    if (command->version != WIRE_VERSION)
        return WIRE_BAD_VERSION;
    switch (command->code) {
    case WIRE_CONFIGURE:
        return configure(board, command);
    case WIRE_ARM:
        return may_arm(board, command);
    case WIRE_SELF_TEST:
        return self_test(board, command);
    case WIRE_STOP:
    case WIRE_STATUS:
        return command->body_bytes == 0 ? WIRE_OK : WIRE_BAD_BODY;
    default:
        return WIRE_BAD_COMMAND;
    }
}

static void execute(struct board *board, const struct wire_command *command)
{
    /* Records from before the command precede its reply, and a status counts them. */
    uint8_t *payload = board_frames_begin(board);
    struct wire_reply reply = {.tag = command->tag, .code = command->code};
    size_t body_bytes = 0;

    reply.status = judge(board, command);
    if (reply.status == WIRE_OK && command->code == WIRE_IDENTIFY)
        body_bytes = identify(board, payload + WIRE_REPLY_HEADER);
    if (reply.status == WIRE_OK && command->code == WIRE_STATUS)
        body_bytes = board_frames_put_counters(board, payload + WIRE_REPLY_HEADER);
    wire_reply_put_header(payload, &reply);
    board_frames_end(board, WIRE_REPLY, (uint32_t)(WIRE_REPLY_HEADER + body_bytes));

    if (reply.status == WIRE_OK && command->code == WIRE_ARM)
        arm(board, bytes_get32(command->body));
    if (reply.status == WIRE_OK && command->code == WIRE_STOP)
        stop(board);
}

bool board_commands_step(struct board *board)
{
    uint8_t *bytes = board->command;
    size_t received = board->link.receive(board->link.context, bytes + board->command_bytes,
                                          sizeof board->command - board->command_bytes);
    size_t size = board->command_bytes + received, used = 0;
    struct wire_command command;

    /* After a command that ends the session, the next one waits until END is queued. */
    while (used < size && board->state != BOARD_DRAINING) {
        int length = wire_command_get(&command, bytes + used, size - used);
        if (length == 0 || (length > 0 && board_queue_free(&board->queue) < FRAMES_PER_COMMAND))
            break;
        if (length > 0)
            execute(board, &command);
        used += length > 0 ? (size_t)length : 1u;
    }
    for (size_t i = 0; used > 0 && i < size - used; i++)
        bytes[i] = bytes[used + i];
    board->command_bytes = (uint32_t)(size - used);
    return received > 0 || used > 0;
}
