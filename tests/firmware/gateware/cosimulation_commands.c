#include "tests/firmware/gateware/cosimulation.h"

#include "firmware/virtual/random.h"
#include "formats/base/bytes.h"

#include <string.h>

#define PATTERNS 3u /* frames of a self-test, at most */

/* A configuration that does nothing by time, which would differ, with any fault in it. */
static void choose_configuration(struct test *test, uint8_t *body)
{
    test->configuration.packing = (uint8_t)below(test, 2);
    test->configuration.stall = below(test, 2);
    test->configuration.filter.range_count = (uint8_t)below(test, FILTER_RANGES + 1);
    wire_configuration_put(body, &test->configuration);
    if (below(test, 3) == 0)
        body[below(test, 84)] ^= (uint8_t)(1u << below(test, 8));
    if (below(test, 8) == 0)
        body[92 + below(test, 4)] = 1;
}

static void put_random_command(struct test *test)
{
    uint8_t body[WIRE_CONFIGURATION_BYTES + 4] = {0};
    uint8_t code = (uint8_t)below(test, WIRE_SELF_TEST + 3);
    uint16_t size = 0;
    if (code == WIRE_CONFIGURE) {
        choose_configuration(test, body);
        size = WIRE_CONFIGURATION_BYTES;
    }
    if (code == WIRE_ARM || code == WIRE_SELF_TEST)
        size = 4;
    if (code == WIRE_ARM)
        bytes_put32(body, below(test, 4) ? (uint32_t)virtual_random(&test->random) : 0);
    if (code == WIRE_SELF_TEST)
        bytes_put32(body, below(test, PATTERNS + 1));
    if (below(test, 8) == 0)
        size = (uint16_t)(4 * below(test, sizeof body / 4 + 1));
    put_command(test, code, body, size);
}

/* Changes, removes or adds bytes of what was put last. */
static void damage(struct test *test, size_t start)
{
    struct bytes *bytes = &test->commands;
    size_t at = start + below(test, (uint32_t)(bytes->size - start));
    uint8_t noise[40];
    for (unsigned i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)(below(test, 4) ? virtual_random(&test->random) : 0xa5);
    switch (below(test, 3)) {
    case 0:
        bytes->data[at] ^= (uint8_t)(1u << below(test, 8));
        break;
    case 1:
        bytes->size = at + 1;
        break;
    default:
        append(bytes, noise, below(test, sizeof noise) + 1);
    }
}

/* A damaged command may wait for bytes of a body that will not come. */
static void end_damaged(struct test *test)
{
    uint8_t zeros[2 * WIRE_COMMAND_MAX] = {0};
    for (size_t i = 0; i < sizeof zeros; i += 64) {
        append(&test->commands, zeros, 64);
        give(test);
        settle(test);
    }
}

/* A damaged command may take in the one after it, which is then found in its bytes, but not more:
 * of several commands found at once, the C code executes all before it makes frames of a self-test,
 * the gateware does not (fuzz_gateware_commands.c compares that). */
void give_random_commands(struct test *test)
{
    bool waits = false;
    put_command(test, WIRE_IDENTIFY, NULL, 0);
    /* The gateware has no room for all while it executes the first. */
    for (unsigned i = 0; i < 4; i++)
        put_configure(test);
    give(test);
    settle(test);
    for (uint64_t i = 0; i < test->options.commands; i++) {
        size_t start = test->commands.size;
        const bool damages = !waits && below(test, 3) == 0;
        put_random_command(test);
        if (damages)
            damage(test, start);
        give(test);
        settle(test);
        if (waits)
            end_damaged(test);
        waits = damages;
    }
    end_damaged(test);
    put_command(test, WIRE_STOP, NULL, 0);
    give(test);
    settle(test);
}
