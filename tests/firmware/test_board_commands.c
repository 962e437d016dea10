#include "tests/suites.h"
#include "tests/support/board_rig.h"
#include "tests/support/random.h"

#include <string.h>

static struct wire_configuration plain(void)
{
    return (struct wire_configuration){.filter = filter_all(), .packing = WIRE_PLAIN};
}

/* Sends a command and returns the status of its reply; -1 if there is none. The reply's body is
 * valid until the next frame. */
static int ask(struct board_rig *rig, enum wire_command_code code, const uint8_t *body, size_t size,
               struct wire_reply *reply)
{
    static uint32_t tag = 1000;
    struct wire_frame frame;
    struct wire_reply own = {0};
    reply = reply ? reply : &own;
    board_rig_command(rig, code, ++tag, body, size);
    while (board_rig_await(rig, WIRE_REPLY, &frame))
        if (wire_reply_get(reply, frame.payload, frame.payload_bytes) == 0 && reply->tag == tag)
            return reply->code == code ? reply->status : -1;
    return -1;
}

static void test_identify(void)
{
    struct board_rig *rig = board_rig_new(7);
    struct wire_identity identity;
    struct wire_reply reply;
    CU_ASSERT_EQUAL(ask(rig, WIRE_IDENTIFY, NULL, 0, &reply), WIRE_OK);
    CU_ASSERT_EQUAL(wire_identity_get(&identity, reply.body, reply.body_bytes), 0);
    CU_ASSERT_EQUAL(identity.protocol, WIRE_VERSION);
    CU_ASSERT_EQUAL(identity.queue_frames, 7);
    CU_ASSERT_EQUAL(identity.payload_max, BOARD_PAYLOAD_MAX);
    CU_ASSERT_EQUAL(identity.features, WIRE_FEATURE_STALL);
    CU_ASSERT_STRING_EQUAL(identity.name, "rig");
    board_rig_free(rig);
}

enum state { IDLE, ARMED, TESTING };

static void bring(struct board_rig *rig, enum state state)
{
    struct wire_configuration configuration = plain();
    static const uint8_t many[4] = {0xff, 0xff, 0xff, 0x7f};
    if (state == ARMED)
        board_rig_arm(rig, &configuration, 5);
    if (state == TESTING) {
        CU_ASSERT_EQUAL(ask(rig, WIRE_SELF_TEST, many, 4, NULL), WIRE_OK);
        CU_ASSERT(rig->board.pattern_left > 0);
    }
}

static void test_every_command_in_every_state(void)
{
    static const int expected[][3] = {
        /* idle, armed, in a self-test */
        [WIRE_IDENTIFY] = {WIRE_OK, WIRE_OK, WIRE_OK},
        [WIRE_CONFIGURE] = {WIRE_OK, WIRE_BAD_STATE, WIRE_BAD_STATE},
        [WIRE_ARM] = {WIRE_OK, WIRE_BAD_STATE, WIRE_BAD_STATE},
        [WIRE_STOP] = {WIRE_OK, WIRE_OK, WIRE_OK},
        [WIRE_STATUS] = {WIRE_OK, WIRE_OK, WIRE_OK},
        [WIRE_SELF_TEST] = {WIRE_OK, WIRE_BAD_STATE, WIRE_BAD_STATE},
        [7] = {WIRE_BAD_COMMAND, WIRE_BAD_COMMAND, WIRE_BAD_COMMAND},
    };
    static const size_t sizes[] = {
        [WIRE_CONFIGURE] = WIRE_CONFIGURATION_BYTES, [WIRE_ARM] = 4, [WIRE_SELF_TEST] = 4, [7] = 0};
    struct wire_configuration configuration = plain();
    uint8_t configure[WIRE_CONFIGURATION_BYTES];
    static const uint8_t number[4] = {9};
    wire_configuration_put(configure, &configuration);
    for (unsigned code = WIRE_IDENTIFY; code <= 7; code++)
        for (enum state state = IDLE; state <= TESTING; state++) {
            struct board_rig *rig = board_rig_new(4);
            const uint8_t *body = code == WIRE_CONFIGURE ? configure : number;
            bring(rig, state);
            CU_ASSERT_EQUAL(ask(rig, code, body, sizes[code], NULL), expected[code][state]);
            bool armed = state == ARMED ? code != WIRE_STOP : state == IDLE && code == WIRE_ARM;
            CU_ASSERT_EQUAL(board_armed(&rig->board), armed);
            if (state == TESTING)
                CU_ASSERT_EQUAL(rig->board.pattern_left > 0, code != WIRE_STOP);
            board_rig_free(rig);
        }
}

static void test_bad_bodies(void)
{
    struct board_rig *rig = board_rig_new(4);
    uint8_t body[WIRE_CONFIGURATION_BYTES] = {0};
    struct wire_configuration configuration = plain();
    CU_ASSERT_EQUAL(ask(rig, WIRE_ARM, body, 4, NULL), WIRE_BAD_BODY); /* session 0 */
    CU_ASSERT_EQUAL(ask(rig, WIRE_ARM, body, 3, NULL), WIRE_BAD_BODY);
    CU_ASSERT_EQUAL(ask(rig, WIRE_SELF_TEST, body, 5, NULL), WIRE_BAD_BODY);
    CU_ASSERT_EQUAL(ask(rig, WIRE_STOP, body, 1, NULL), WIRE_BAD_BODY);
    CU_ASSERT_EQUAL(ask(rig, WIRE_STATUS, body, 1, NULL), WIRE_BAD_BODY);
    CU_ASSERT_EQUAL(ask(rig, WIRE_CONFIGURE, body, 7, NULL), WIRE_BAD_BODY);
    wire_configuration_put(body, &configuration);
    body[80] = 9; /* an unknown packing */
    CU_ASSERT_EQUAL(ask(rig, WIRE_CONFIGURE, body, sizeof body, NULL), WIRE_BAD_BODY);
    CU_ASSERT_FALSE(board_armed(&rig->board));
    board_rig_free(rig);
}

/* A board without a stall line refuses to be configured with one, and has shorter counters. */
static void test_no_stall_line(void)
{
    struct bus_front bus = {.stall = NULL};
    const struct board_link link = {.send = NULL};
    const struct wire_identity identity = {.name = "old", .features = 0xffff};
    struct board_rig *rig = board_rig_new(4);
    uint8_t body[WIRE_CONFIGURATION_BYTES];
    struct wire_configuration configuration = plain();
    struct wire_reply reply;
    configuration.stall = true;
    wire_configuration_put(body, &configuration);
    CU_ASSERT_EQUAL(ask(rig, WIRE_CONFIGURE, body, sizeof body, NULL), WIRE_OK);
    CU_ASSERT_EQUAL(ask(rig, WIRE_STATUS, NULL, 0, &reply), WIRE_OK);
    CU_ASSERT_EQUAL(reply.body_bytes, WIRE_COUNTERS_BYTES);
    rig->board.bus.stall = NULL;
    rig->board.bus.stalls = NULL;
    CU_ASSERT_EQUAL(ask(rig, WIRE_CONFIGURE, body, sizeof body, NULL), WIRE_BAD_BODY);
    CU_ASSERT_EQUAL(ask(rig, WIRE_STATUS, NULL, 0, &reply), WIRE_OK);
    CU_ASSERT_EQUAL(reply.body_bytes, WIRE_COUNTERS_BYTES_LEAST);
    body[81] = 0;
    CU_ASSERT_EQUAL(ask(rig, WIRE_CONFIGURE, body, sizeof body, NULL), WIRE_OK);
    board_init(&rig->board, &identity, &bus, &link, rig->frames, 4);
    CU_ASSERT_EQUAL(rig->board.identity.features, 0);
    board_rig_free(rig);
}

static void test_other_versions(void)
{
    struct board_rig *rig = board_rig_new(4);
    uint8_t bytes[WIRE_COMMAND_MAX];
    struct wire_frame frame;
    struct wire_reply reply;
    struct wire_command command = {.version = 2, .code = WIRE_STATUS, .tag = 4};
    board_rig_say(rig, bytes, wire_command_put(bytes, &command));
    CU_ASSERT_FATAL(board_rig_await(rig, WIRE_REPLY, &frame));
    CU_ASSERT_EQUAL(wire_reply_get(&reply, frame.payload, frame.payload_bytes), 0);
    CU_ASSERT_EQUAL(reply.status, WIRE_BAD_VERSION);
    command.code = WIRE_IDENTIFY;
    board_rig_say(rig, bytes, wire_command_put(bytes, &command));
    CU_ASSERT_FATAL(board_rig_await(rig, WIRE_REPLY, &frame));
    CU_ASSERT_EQUAL(wire_reply_get(&reply, frame.payload, frame.payload_bytes), 0);
    CU_ASSERT_EQUAL(reply.status, WIRE_OK);
    board_rig_free(rig);
}

static void test_session_frames(void)
{
    struct board_rig *rig = board_rig_new(4);
    struct wire_frame frame;
    uint8_t id[4] = {1, 2, 3, 4};
    board_rig_command(rig, WIRE_ARM, 1, id, 4);
    board_rig_settle(rig);
    CU_ASSERT_FATAL(board_rig_frame(rig, &frame));
    CU_ASSERT(frame.kind == WIRE_REPLY && frame.session == 0);
    CU_ASSERT_FATAL(board_rig_frame(rig, &frame));
    CU_ASSERT(frame.kind == WIRE_START && frame.session == 0x04030201 && frame.sequence == 0);
    CU_ASSERT_EQUAL(frame.payload_bytes, WIRE_IDENTITY_BYTES);
    board_rig_command(rig, WIRE_STATUS, 2, NULL, 0);
    board_rig_command(rig, WIRE_STOP, 3, NULL, 0);
    board_rig_command(rig, WIRE_STATUS, 4, NULL, 0);
    board_rig_settle(rig);
    CU_ASSERT_FATAL(board_rig_frame(rig, &frame));
    CU_ASSERT(frame.kind == WIRE_REPLY && frame.session == 0x04030201 && frame.sequence == 1);
    CU_ASSERT_FATAL(board_rig_frame(rig, &frame));
    CU_ASSERT(frame.kind == WIRE_REPLY && frame.sequence == 2);
    CU_ASSERT_FATAL(board_rig_frame(rig, &frame));
    CU_ASSERT(frame.kind == WIRE_END && frame.sequence == 3 && frame.flags == 0);
    CU_ASSERT_FATAL(board_rig_frame(rig, &frame));
    CU_ASSERT(frame.kind == WIRE_REPLY && frame.session == 0 && frame.sequence == 0);
    board_rig_free(rig);
}

/* The bus ends while no slot is free: END waits for a slot, and the host's commands wait for END.
 */
static void test_end_without_room(void)
{
    struct wire_configuration configuration = plain();
    struct board_rig *rig = board_rig_new(4);
    struct wire_frame frame;
    static const enum wire_kind expected[] = {WIRE_REPLY,     WIRE_REPLY, WIRE_REPLY,
                                              WIRE_HEARTBEAT, WIRE_END,   WIRE_REPLY};
    configuration.heartbeat_ms = 1;
    board_rig_arm(rig, &configuration, 5);
    rig->link_room = 0;
    for (unsigned i = 0; i < 4; i++)
        board_rig_command(rig, WIRE_STATUS, i, NULL, 0);
    board_rig_settle(rig); /* the fourth waits: its reply would take the last slot */
    rig->microseconds += 1000;
    board_rig_settle(rig);
    CU_ASSERT_EQUAL(board_queue_free(&rig->board.queue), 0);
    rig->ended = true;
    board_rig_settle(rig);
    CU_ASSERT_EQUAL(rig->board.state, BOARD_DRAINING);
    CU_ASSERT_FALSE(board_armed(&rig->board));
    rig->link_room = SIZE_MAX;
    board_rig_settle(rig);
    CU_ASSERT_EQUAL(rig->board.state, BOARD_IDLE);
    for (unsigned i = 0; i < 6; i++)
        CU_ASSERT(board_rig_frame(rig, &frame) && frame.kind == expected[i]);
    CU_ASSERT_EQUAL(frame.session, 0);
    board_rig_free(rig);
}

static void test_self_test(void)
{
    struct board_rig *rig = board_rig_new(4);
    static const uint8_t frames[4] = {20};
    uint8_t pattern[WIRE_PAYLOAD_MAX];
    struct wire_frame frame;
    uint64_t words = 0;
    board_rig_command(rig, WIRE_SELF_TEST, 1, frames, 4);
    for (unsigned i = 0; i < 20; i++) {
        CU_ASSERT_FATAL(board_rig_await(rig, WIRE_PATTERN, &frame));
        CU_ASSERT_EQUAL(frame.sequence, i);
        CU_ASSERT_EQUAL(frame.first_index, words);
        wire_pattern_fill(pattern, frame.payload_bytes, words);
        CU_ASSERT_EQUAL(memcmp(frame.payload, pattern, frame.payload_bytes), 0);
        words += frame.payload_bytes / 8;
    }
    CU_ASSERT_FALSE(board_rig_await(rig, WIRE_PATTERN, &frame));
    board_rig_free(rig);
}

/* Commands between garbage, in pieces: each valid command is executed exactly once. */
static void test_garbage_between_commands(void)
{
    unsigned wrong = 0;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        uint64_t random = seed;
        struct board_rig *rig = board_rig_new(4);
        struct wire_frame frame;
        unsigned said = 0, heard = 0;
        for (unsigned turn = 0; turn < 6; turn++) {
            uint8_t garbage[300];
            size_t size = random_below(&random, sizeof garbage);
            for (size_t i = 0; i < size; i++)
                garbage[i] = random_below(&random, 2) ? (uint8_t)random_next(&random) : 0xa5;
            /* A truncated command, followed by the next one. */
            if (size > 3 && random_below(&random, 2))
                bytes_put32(garbage + size - 4, WIRE_COMMAND_SYNC);
            board_rig_say(rig, garbage, size);
            board_rig_command(rig, WIRE_STATUS, ++said, NULL, 0);
        }
        rig->link_room = 0;
        for (unsigned i = 0; i < 2000; i++) {
            rig->link_room = random_below(&random, 40);
            board_step(&rig->board);
            while (board_rig_frame(rig, &frame)) {
                struct wire_reply reply;
                wrong += wire_reply_get(&reply, frame.payload, frame.payload_bytes) != 0;
                wrong += reply.tag != ++heard;
            }
        }
        wrong += heard != said;
        board_rig_free(rig);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static const struct test_case cases[] = {
    {"identify", test_identify},
    {"every command in every state", test_every_command_in_every_state},
    {"invalid bodies", test_bad_bodies},
    {"a board without a stall line", test_no_stall_line},
    {"commands of another version", test_other_versions},
    {"the frames of a session", test_session_frames},
    {"END when the queue is full", test_end_without_room},
    {"self-test", test_self_test},
    {"garbage between commands", test_garbage_between_commands},
    {NULL, NULL}};
TEST_SUITE(board_commands, cases)
