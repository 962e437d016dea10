/*
 * A host that sends anything to the simulated board in logic, whose chip pauses and whose clocks
 * change and stop: the input is a script of steps. The board's C code gets the same bytes, and must
 * send the same frames; the last of them is a STATUS. The bus is quiet.
 */
#include "firmware/gateware/sim/gateware_board.h"
#include "formats/base/bytes.h"
#include "tests/firmware/gateware/cosimulation.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS_MAX    64u
#define COMMANDS_MAX 2048u    /* bytes */
#define PATIENCE_NS  2000000u /* without a byte while a reply is due */
#define NANOSECONDS  1500000u /* of all pauses: a heartbeat */
#define BUS_HZ       5000000u /* it is quiet: slow, so that its simulation costs little */
#define CORE_HZ      66000000u
#define LINK_HZ      60000000u

struct play {
    const uint8_t *data;
    size_t size;
    uint64_t left; /* nanoseconds of pauses */
    struct test test;
    size_t looked;    /* bytes of the board in whole frames */
    unsigned replies; /* in them */
};

static uint64_t number(struct play *play, size_t bytes)
{
    uint64_t value = 0;
    for (; bytes > 0 && play->size > 0; bytes--, play->size--)
        value = value << 8 | *play->data++;
    return value;
}

/* --- the board -------------------------------------------------------------------------------- */

/* Runs the board, and counts its replies. */
static void run_board(struct play *play, uint64_t nanoseconds)
{
    struct test *test = &play->test;
    struct ft245_chip *chip = gateware_board_chip(test->board);
    struct wire_frame frame;
    uint8_t bytes[FT245_BYTES];
    for (uint64_t now = 0; now < nanoseconds; now += LOOK_NS) {
        test->given += ft245_chip_put(chip, test->commands.data + test->given,
                                      test->commands.size - test->given);
        gateware_board_run(test->board, LOOK_NS, NULL, 0);
        append(&test->gateware, bytes, ft245_chip_take(chip, bytes, sizeof bytes));
    }
    if (chip->fault)
        fail(chip->fault);
    while (test->gateware.size - play->looked >= WIRE_FRAME_HEADER) {
        if (wire_frame_get_header(&frame, test->gateware.data + play->looked) < 0)
            fail("no frame where one should start");
        if (test->gateware.size - play->looked < frame_size(&frame))
            break;
        play->replies += frame.kind == WIRE_REPLY;
        play->looked += frame_size(&frame);
    }
}

/* Puts zeros until no command is incomplete. Returns how many commands there are. */
static unsigned complete_commands(struct test *test)
{
    static const uint8_t zero;
    struct wire_command command;
    unsigned count = 0;
    for (size_t at = 0; at < test->commands.size;) {
        int length = wire_command_get(&command, test->commands.data + at, test->commands.size - at);
        if (length == 0)
            append(&test->commands, &zero, 1);
        else
            at += length > 0 ? (size_t)length : 1;
        count += length > 0;
    }
    return count;
}

/* Runs the board until it has replied to all. */
static void finish(struct play *play)
{
    struct test *test = &play->test;
    struct ft245_chip *chip = gateware_board_chip(test->board);
    chip->write_share = chip->read_share = UINT32_MAX;
    gateware_board_clocks(test->board, BUS_HZ, CORE_HZ, LINK_HZ);
    complete_commands(test);
    put_command(test, WIRE_STOP, NULL, 0);
    put_command(test, WIRE_STATUS, NULL, 0);
    unsigned commands = complete_commands(test);
    uint64_t waited = 0;
    while (play->replies < commands && waited < PATIENCE_NS) {
        size_t before = test->gateware.size;
        run_board(play, LOOK_NS);
        waited = test->gateware.size == before ? waited + LOOK_NS : 0;
    }
    run_board(play, 5 * LOOK_NS);
    if (play->replies != commands)
        fail("the gateware has not replied to each command once");
}

/* --- the script ------------------------------------------------------------------------------- */

static void put_bytes(struct play *play)
{
    for (uint64_t count = number(play, 1) % 64 + 1; count > 0; count--) {
        uint8_t byte = (uint8_t)number(play, 1);
        append(&play->test.commands, &byte, 1);
    }
}

/* Any version, code and body; one byte of it may be changed. */
static void put_any(struct play *play, bool damage)
{
    uint8_t body[WIRE_COMMAND_BODY_MAX], bytes[WIRE_COMMAND_MAX];
    uint64_t version = number(play, 1);
    struct wire_command command = {.version = version < 240 ? WIRE_VERSION : (uint8_t)version,
                                   .code = (uint8_t)number(play, 1),
                                   .tag = (uint32_t)number(play, 2),
                                   .body = body};
    command.body_bytes = (uint16_t)(number(play, 1) % (sizeof body + 1));
    for (size_t i = 0; i < command.body_bytes; i++)
        body[i] = (uint8_t)number(play, 1);
    size_t size = wire_command_put(bytes, &command);
    if (damage) {
        uint64_t at = number(play, 1) % size;
        bytes[at] ^= (uint8_t)number(play, 1);
    }
    append(&play->test.commands, bytes, size);
}

/* A configuration, perhaps with too many ranges, one upside down, or any byte changed but theirs.
 */
static void put_configuration(struct play *play)
{
    uint8_t body[WIRE_CONFIGURATION_BYTES];
    uint64_t choice = number(play, 1);
    struct wire_configuration configuration = {.filter = filter_all(),
                                               .packing = choice & 1,
                                               .stall = choice >> 1 & 1,
                                               .flush_us = (uint32_t)number(play, 2),
                                               .heartbeat_ms = (uint32_t)number(play, 1) & 3u};
    for (unsigned i = 0; i < FILTER_RANGES && (choice & 4); i++)
        configuration.filter.ranges[i] = (struct filter_range){
            .low = (uint32_t)number(play, 1) << 24, .high = (uint32_t)number(play, 1) << 16};
    wire_configuration_put(body, &configuration);
    body[5] = (uint8_t)(choice >> 3 & 15u);
    if (choice >> 7) {
        uint64_t at = number(play, 1) % 32;
        body[at < 8 ? at : at + 64] ^= (uint8_t)number(play, 1);
    }
    put_command(&play->test, WIRE_CONFIGURE, body, sizeof body);
}

/* ARM or SELF_TEST, with a small number. */
static void put_number(struct play *play, uint8_t code)
{
    uint8_t body[4];
    bytes_put32(body, (uint32_t)number(play, 1));
    put_command(&play->test, code, body, sizeof body);
}

static void wait(struct play *play, uint64_t nanoseconds)
{
    nanoseconds = nanoseconds < play->left ? nanoseconds : play->left;
    play->left -= nanoseconds;
    run_board(play, nanoseconds);
}

static void change_clocks(struct play *play)
{
    uint64_t bus = number(play, 1), core = number(play, 1), link = number(play, 1);
    gateware_board_clocks(play->test.board, bus * 500000, (core + 50) * 400000, link * 400000);
}

static void step(struct play *play)
{
    struct ft245_chip *chip = gateware_board_chip(play->test.board);
    uint64_t code = number(play, 1);
    switch (code % 12) {
    case 0:
        put_bytes(play);
        break;
    case 1:
    case 2:
        put_any(play, code % 12 == 2);
        break;
    case 3:
        put_configuration(play);
        break;
    case 4:
    case 5:
        put_number(play, code % 12 == 4 ? WIRE_ARM : WIRE_SELF_TEST);
        break;
    case 6:
    case 7:
    case 8:
        put_command(&play->test,
                    code % 12 == 6   ? WIRE_STOP
                    : code % 12 == 7 ? WIRE_STATUS
                                     : WIRE_IDENTIFY,
                    NULL, 0);
        break;
    case 9:
        chip->write_share = (uint32_t)number(play, 1) << 24 | 0xffffff;
        chip->read_share = (uint32_t)number(play, 1) << 24 | 0xffffff;
        break;
    case 10:
        change_clocks(play);
        break;
    default:
        wait(play, number(play, 2) * 16);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct play play = {.data = data, .size = size, .left = NANOSECONDS};
    struct test *test = &play.test;
    struct gateware_settings settings = {.bus_hz = BUS_HZ, .core_hz = CORE_HZ, .link_hz = LINK_HZ};
    settings.seed = number(&play, 1) + 1;
    test->board = gateware_board_new(&settings);
    put_command(test, WIRE_IDENTIFY, NULL, 0);
    for (unsigned steps = 0;
         steps < STEPS_MAX && play.size > 0 && test->commands.size < COMMANDS_MAX; steps++)
        step(&play);
    finish(&play);
    const struct wire_identity identity = first_identity(test);
    follow_gateware(test, &identity);
    compare(test);
    gateware_board_free(test->board);
    free(test->commands.data);
    free(test->gateware.data);
    free(test->twin.data);
    return 0;
}
