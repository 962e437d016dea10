#include "tests/firmware/gateware/cosimulation_twin.h"

#include "firmware/board_commands.h"

/* Whether the gateware may have judged the command before it sent the last frame of a self-test. */
static bool judged_early(const struct wire_frame *frame, uint8_t before)
{
    return before == WIRE_PATTERN && frame->payload_bytes >= WIRE_REPLY_HEADER &&
           frame->payload[5] == WIRE_BAD_STATE;
}

/* Gives the C code bytes until it has replied once: it may find that one byte completes more than
 * one command, and has slots only for the first. */
static void give_command(struct twin *twin, bool testing)
{
    struct board *board = &twin->board;
    bool add = testing && board->pattern_left == 0;
    board->pattern_left += add;
    board->queue.head = 0;
    board->queue.count = 2;
    for (;;) {
        board_commands_step(board);
        if (board->queue.waiting > 0)
            break;
        if (twin->limit == twin->test->commands.size)
            fail("the gateware replies to what is no command");
        twin->limit++;
    }
    board_queue_send(&board->queue, &board->link);
    board->queue.count = FRAMES;
    board->pattern_left -= add;
}

/* Makes the C code send its next frame. */
static void follow_frame(struct twin *twin, const struct wire_frame *frame, uint8_t before)
{
    size_t sent = twin->test->twin.size;
    if (frame->kind == WIRE_REPLY) {
        give_command(twin, judged_early(frame, before));
    } else {
        if (frame->kind == WIRE_HEARTBEAT)
            twin->microseconds += twin->board.configuration.heartbeat_ms * UINT64_C(1000);
        board_step(&twin->board);
    }
    if (twin->test->twin.size == sent)
        fail("the gateware sends a frame that the C code does not");
}

void follow_gateware(struct test *test, const struct wire_identity *identity)
{
    struct twin twin;
    uint8_t before = WIRE_REPLY;
    twin_init(&twin, test, identity);
    for (size_t at = 0; at < test->gateware.size;) {
        struct wire_frame frame = frame_at(&test->gateware, at);
        if (test->twin.size <= at)
            follow_frame(&twin, &frame, before);
        before = frame.kind;
        at += frame_size(&frame);
    }
    twin.limit = test->commands.size;
    while (board_step(&twin.board))
        ;
}
