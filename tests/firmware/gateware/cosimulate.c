/*
 * The simulated gateware against the board's C code: the same requests and commands, the same
 * frames, byte for byte. What depends on when a frame leaves is taken from the gateware's frame and
 * checked for sense instead: the board's time in frames without records, and how full the queue is.
 * With loss=1 the link is too slow: every record must be the request that its index says, and
 * records and losses must be all that the C code accepts. With missed=1 the core is too slow, too:
 * all requests are ones that the filter keeps, since what the bus's side drops counts as kept.
 * With stall=1 the bus is stalled instead, and nothing may be lost on any link. With commands=N the
 * bus is quiet, and N commands are sent, whole and damaged, in all states. With halts=PERCENT the
 * clocks of bus and link stop for a while in this share of the simulation's steps.
 *
 * With wraps=N the bus is quiet N times for so long that the low half of its tick wraps, or the
 * time of a record saturates. The simulation skips most of these clocks.
 *
 * With heartbeat=MS it is compared when heartbeats are sent: in sessions without and with requests,
 * while the link pauses, and with the queue full; records are checked as with loss=1.
 *
 * The requests are random, those of the virtual multiprocessor (smp=N), or those of a trace
 * (replay=FILE), which starts again at its end.
 *
 * usage: cosimulate seed=N [smp=N | replay=FILE] [requests=N] [gap=CLOCKS] [packed=1] [filter=1]
 * [loss=1] [missed=1] [stall=1] [bus=HZ] [core=HZ] [link=HZ] [pause=PERCENT] [halts=PERCENT]
 * [wraps=N] [heartbeat=MS] [vcd=FILE] [pins=FILE]
 */
#include "tests/firmware/gateware/cosimulation.h"

#include "firmware/virtual/random.h"
#include "formats/base/bytes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most are near a request: only then do the low bits of a bound matter. */
static uint32_t choose_bound(struct test *test)
{
    if (test->options.requests == 0 || below(test, 4) == 0)
        return (uint32_t)virtual_random(&test->random);
    const struct bus_phase *phase = &test->phases[below(test, 8) % test->options.requests];
    return (uint32_t)phase->address_a + below(test, 512) - 256;
}

static void choose_filter(struct test *test)
{
    struct filter *filter = &test->configuration.filter;
    filter->types = below(test, 1u << 17);
    filter->processors = (uint8_t)below(test, 256);
    filter->range_count = (uint8_t)below(test, FILTER_RANGES + 1);
    filter->outside = below(test, 2);
    for (unsigned i = 0; i < filter->range_count; i++) {
        uint32_t a = choose_bound(test);
        uint32_t b = below(test, 4)
                         ? a + ((uint32_t)virtual_random(&test->random) >> below(test, 32))
                         : choose_bound(test);
        filter->ranges[i].low = a < b ? a : b;
        filter->ranges[i].high = a < b ? b : a;
    }
}

/* Skips the middle of a long gap between requests. */
static void skip_gap(struct test *test)
{
    const uint64_t now = gateware_board_tick(test->board), quiet = FIRST_TICK;
    if (test->sent == 0 || now - test->phases[test->sent - 1].tick < quiet)
        return;
    const uint64_t next = test->phases[test->sent].tick;
    if (next > now + quiet)
        gateware_board_skip(test->board, next - now - quiet);
}

void arm(struct test *test)
{
    uint8_t session[4];
    bytes_put32(session, SESSION);
    put_command(test, WIRE_ARM, session, 4);
    for (uint64_t i = 0; i < test->options.requests; i++)
        test->phases[i].tick += gateware_board_tick(test->board);
    test->begun = true;
    give(test);
}

void run_requests(struct test *test)
{
    while (test->sent < test->options.requests) {
        skip_gap(test);
        run(test, STEP_NS);
    }
}

static void run_gateware(struct test *test)
{
    put_command(test, WIRE_IDENTIFY, NULL, 0);
    put_configure(test);
    give(test);
    arm(test);
    run_requests(test);
    settle(test);
    put_command(test, WIRE_STOP, NULL, 0);
    give(test);
    put_command(test, WIRE_STATUS, NULL, 0);
    give(test);
    settle(test);
}

/* --- options --------------------------------------------------------------------------------- */

static bool set(struct options *options, const char *argument)
{
    const struct {
        const char *name;
        uint64_t *number; /* or: */
        const char **text;
    } names[] = {{"seed", &options->seed, NULL},
                 {"requests", &options->requests, NULL},
                 {"gap", &options->gap, NULL},
                 {"packed", &options->packed, NULL},
                 {"filter", &options->filter, NULL},
                 {"loss", &options->loss, NULL},
                 {"missed", &options->missed, NULL},
                 {"stall", &options->stall, NULL},
                 {"commands", &options->commands, NULL},
                 {"bus", &options->bus, NULL},
                 {"core", &options->core, NULL},
                 {"link", &options->link, NULL},
                 {"pause", &options->pause, NULL},
                 {"halts", &options->halts, NULL},
                 {"smp", &options->smp, NULL},
                 {"wraps", &options->wraps, NULL},
                 {"heartbeat", &options->heartbeat, NULL},
                 {"replay", NULL, &options->replay},
                 {"vcd", NULL, &options->vcd},
                 {"pins", NULL, &options->pins}};
    const char *value = strchr(argument, '=');
    for (size_t i = 0; value && i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == (size_t)(value - argument) &&
            strncmp(argument, names[i].name, (size_t)(value - argument)) == 0) {
            if (names[i].number)
                *names[i].number = strtoull(value + 1, NULL, 10);
            else
                *names[i].text = value + 1;
            return true;
        }
    return false;
}

static void check(struct test *test)
{
    const struct wire_identity identity = first_identity(test);
    for (uint64_t i = 0; i < test->options.requests; i++)
        p6_pins_offset(&test->phases[i]);
    set_ticks(test);
    if (test->options.wraps && test->phases[test->options.requests - 1].tick <= UINT32_MAX)
        fail("no tick wraps: the test does not test");
    if (test->options.heartbeat) {
        keep_time(test, &identity);
        printf("%zu heartbeats in time, ", compare_heartbeats(test));
    }
    if (test->options.loss || test->options.heartbeat) {
        check_losses(test);
    } else {
        run_twin(test, &identity);
        size_t frames = compare(test);
        printf("%zu frames, %zu bytes, equal\n", frames, test->gateware.size);
    }
}

int main(int count, char **arguments)
{
    struct test test = {.options = {.seed = 1,
                                    .requests = 20000,
                                    .gap = 200,
                                    .bus = 66000000,
                                    .core = 66000000,
                                    .link = 60000000}};
    struct options *options = &test.options;
    for (int i = 1; i < count; i++)
        if (!set(options, arguments[i]))
            fail("unknown option");
    if (options->seed == 0)
        fail("seed=0: random numbers need another seed");
    if (options->commands)
        options->requests = 0;
    int vcd = options->vcd ? open(options->vcd, O_WRONLY | O_CREAT | O_TRUNC, 0666) : 0;
    FILE *pins = options->pins ? fopen(options->pins, "w") : NULL;
    if (vcd < 0 || (options->pins && !pins))
        fail("cannot write the file of signals");
    const struct gateware_settings settings = {.bus_hz = options->bus,
                                               .core_hz = options->core,
                                               .link_hz = options->link,
                                               .seed = options->seed,
                                               .vcd = vcd,
                                               .pins = pins};
    test.random = options->seed;
    test.phases = calloc(options->requests + 1, sizeof *test.phases);
    test.board = gateware_board_new(&settings);
    if (!test.phases || !test.board)
        fail("no memory");
    test.configuration =
        (struct wire_configuration){.filter = filter_all(),
                                    .packing = options->packed ? WIRE_DELTA : WIRE_PLAIN,
                                    .stall = options->stall};
    struct ft245_chip *chip = gateware_board_chip(test.board);
    chip->write_share = chip->read_share = (uint32_t)(UINT32_MAX / 100 * (100 - options->pause));
    choose_phases(&test);
    if (options->filter)
        choose_filter(&test);
    if (options->commands)
        give_random_commands(&test);
    else if (options->heartbeat)
        give_heartbeats(&test);
    else
        run_gateware(&test);

    check(&test);
    if (gateware_board_free(test.board) != 0 || (pins && fclose(pins) != 0))
        fail("cannot write the file of signals");
    free(test.phases);
    free(test.ends.data);
    free(test.moments.data);
    free(test.commands.data);
    free(test.gateware.data);
    free(test.twin.data);
    return 0;
}
