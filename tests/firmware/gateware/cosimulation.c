#include "tests/firmware/gateware/cosimulation.h"

#include "firmware/virtual/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void fail(const char *what)
{
    printf("cosimulate: %s\n", what);
    exit(1);
}

void append(struct bytes *bytes, const uint8_t *data, size_t size)
{
    if (size == 0)
        return;
    if (bytes->size + size > bytes->capacity) {
        bytes->capacity = 2 * (bytes->size + size);
        bytes->data = realloc(bytes->data, bytes->capacity);
        if (!bytes->data)
            fail("no memory");
    }
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

uint32_t below(struct test *test, uint32_t limit)
{
    return virtual_random_below(&test->random, limit);
}

void put_command(struct test *test, uint8_t code, const uint8_t *body, uint16_t size)
{
    uint8_t bytes[WIRE_COMMAND_MAX];
    const struct wire_command command = {.version = WIRE_VERSION,
                                         .code = code,
                                         .tag = 0x1000u + code,
                                         .body = body,
                                         .body_bytes = size};
    append(&test->commands, bytes, wire_command_put(bytes, &command));
}

void put_configure(struct test *test)
{
    uint8_t body[WIRE_CONFIGURATION_BYTES];
    wire_configuration_put(body, &test->configuration);
    put_command(test, WIRE_CONFIGURE, body, sizeof body);
}

static void run_clocks(struct test *test, uint64_t nanoseconds)
{
    size_t next = test->sent;
    test->sent += gateware_board_run(
        test->board, nanoseconds, test->phases + next,
        test->begun && gateware_board_armed(test->board) ? test->options.requests - next : 0);
}

/* The clocks of bus and link may end anywhere, in either half of a period, and go on at another
 * phase. Returns for how many of the step's nanoseconds the simulation has run. */
static uint64_t halt(struct test *test)
{
    const struct options *options = &test->options;
    uint32_t until = below(test, STEP_NS), halted = below(test, STEP_NS - until);
    uint32_t which = below(test, 4);
    run_clocks(test, until);
    gateware_board_clocks(test->board, which & 1 ? options->bus : 0, options->core,
                          which & 2 ? options->link : 0);
    run_clocks(test, halted);
    gateware_board_clocks(test->board, options->bus, options->core, options->link);
    return until + halted;
}

static void note_moment(struct test *test)
{
    const struct moment moment = {.nanoseconds = test->now,
                                  .given = test->given,
                                  .sent = test->sent,
                                  .gateware = test->gateware.size,
                                  .write_share = gateware_board_chip(test->board)->write_share};
    append(&test->moments, (const uint8_t *)&moment, sizeof moment);
}

void run(struct test *test, uint64_t nanoseconds)
{
    struct ft245_chip *chip = gateware_board_chip(test->board);
    const uint64_t step = test->options.heartbeat ? LOOK_NS : STEP_NS;
    uint8_t bytes[FT245_BYTES];
    for (uint64_t i = 0; i < nanoseconds; i += step) {
        uint64_t done = 0;
        if (test->options.halts && below(test, 100) < test->options.halts)
            done = halt(test);
        run_clocks(test, step - done);
        test->now += step;
        append(&test->gateware, bytes, ft245_chip_take(chip, bytes, sizeof bytes));
        if (test->options.heartbeat)
            note_moment(test);
    }
    if (chip->fault)
        fail(chip->fault);
}

void give(struct test *test)
{
    const size_t end = test->commands.size;
    append(&test->ends, (const uint8_t *)&end, sizeof end);
    while (test->given < end) {
        test->given += ft245_chip_put(gateware_board_chip(test->board),
                                      test->commands.data + test->given, end - test->given);
        run(test, STEP_NS);
    }
    run(test, QUIET_NS);
}

void settle(struct test *test)
{
    size_t size;
    do {
        size = test->gateware.size;
        run(test, QUIET_NS);
    } while (test->gateware.size != size);
}
