/*
 * The simulated gateware as a program: standard input and output carry the bytes of its USB chip,
 * and a virtual bus puts requests on its pins. Simulated time stops while the board is idle and no
 * command arrives, and while the reader of standard output does not keep up.
 */
#include "firmware/gateware/sim/gateware_board.h"
#include "firmware/gateware/sim/gateware_options.h"
#include "formats/base/printable.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEP_NS     20000u
#define PHASES      1400u                /* more than a bus of 200 MHz has in a step */
#define UNKNOWN_GAP UINT64_C(0xffffffff) /* a saturated time: the interval is unknown */
#define UNKNOWN_AS  1000u                /* the interval in its place, in clocks */

struct simulation {
    struct gateware_board *board;
    struct ft245_chip *chip;
    struct virtual_bus *bus;
    struct bus_front front;

    struct bus_phase phases[PHASES];
    size_t first, count; /* phases[first .. first + count) wait for their ticks */
    uint64_t taken, put; /* the last phase's tick: on the virtual bus, and on the pins */
    bool armed, begun;   /* begun: a phase was taken in this session */
    uint64_t quiet_ns;   /* since the last phase of an ended bus */
    bool stopped;        /* STOP was given because the bus has ended */

    uint8_t commands[4096]; /* bytes from the host that the chip has no room for yet */
    size_t commands_first, commands_count;
    uint64_t idle_ns, idle_limit; /* time without a byte, and when that makes the board idle */
};

static int report(const struct bt_error *error)
{
    fprintf(stderr, "bustap-gateware: %s\n", PRINTABLE(error->message));
    return bt_exit_status(error->code);
}

/* --- the bus ---------------------------------------------------------------------------------- */

/* Gives a phase its tick on the pins. */
static void place(struct simulation *simulation, struct bus_phase *phase)
{
    uint64_t gap = phase->tick - simulation->taken;
    if (!simulation->begun)
        simulation->put = gateware_board_tick(simulation->board);
    simulation->begun = true;
    simulation->taken = phase->tick;
    phase->tick = simulation->put += gap < UNKNOWN_GAP ? gap : UNKNOWN_AS;
}

/* Takes phases from the virtual bus, at least those of the next step. */
static void take_phases(struct simulation *simulation)
{
    struct bus_phase *phases = simulation->phases;
    size_t more = 1;
    if (simulation->first > 0)
        memmove(phases, phases + simulation->first, simulation->count * sizeof *phases);
    simulation->first = 0;
    while (more > 0 && simulation->count < PHASES) {
        struct bus_phase *next = phases + simulation->count;
        more = simulation->front.take(simulation->front.context, next, PHASES - simulation->count);
        for (size_t i = 0; i < more; i++)
            place(simulation, &next[i]);
        simulation->count += more;
    }
}

/* Gives the board STOP once the bus has ended and its last request is in a frame. */
static void stop_when_ended(struct simulation *simulation)
{
    if (simulation->count > 0 || !simulation->front.ended(simulation->front.context))
        return;
    simulation->quiet_ns += STEP_NS;
    if (simulation->stopped || simulation->quiet_ns < GATEWARE_SETTLE_NS ||
        simulation->commands_count > 0 || simulation->chip->from_count > 0)
        return;
    gateware_board_stop(simulation->board);
    simulation->stopped = true;
}

static void run_board(struct simulation *simulation)
{
    bool armed = gateware_board_armed(simulation->board);
    if (armed != simulation->armed) {
        simulation->armed = armed;
        simulation->begun = simulation->stopped = false;
        simulation->quiet_ns = 0;
    }
    if (armed)
        take_phases(simulation);
    size_t done =
        gateware_board_run(simulation->board, STEP_NS, simulation->phases + simulation->first,
                           armed ? simulation->count : 0);
    simulation->first += done;
    simulation->count -= done;
    if (armed)
        stop_when_ended(simulation);
}

/* --- the host --------------------------------------------------------------------------------- */

/* Reads commands, and waits for them if the board is idle. False: standard input has ended. */
static bool take_commands(struct simulation *simulation)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    bool idle = !simulation->armed && simulation->idle_ns >= simulation->idle_limit;
    if (simulation->commands_count == 0 && poll(&input, 1, idle ? -1 : 0) > 0) {
        ssize_t size = read(STDIN_FILENO, simulation->commands, sizeof simulation->commands);
        if (size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN))
            return false;
        simulation->commands_first = 0;
        simulation->commands_count = size > 0 ? (size_t)size : 0;
        simulation->idle_ns = 0;
    }
    size_t put = ft245_chip_put(simulation->chip, simulation->commands + simulation->commands_first,
                                simulation->commands_count);
    simulation->commands_first += put;
    simulation->commands_count -= put;
    return true;
}

/* Writes what the board has sent, however long that takes. False: its reader has gone. */
static bool send_bytes(struct simulation *simulation)
{
    uint8_t bytes[FT245_BYTES];
    size_t size = ft245_chip_take(simulation->chip, bytes, sizeof bytes);
    bool busy = size > 0 || simulation->chip->from_count > 0;
    simulation->idle_ns = busy ? 0 : simulation->idle_ns + STEP_NS;
    for (const uint8_t *at = bytes; size > 0;) {
        ssize_t written = write(STDOUT_FILENO, at, size);
        if (written < 0 && errno != EINTR)
            return false;
        at += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

static int run(struct simulation *simulation)
{
    struct bt_error error;
    while (take_commands(simulation)) {
        run_board(simulation);
        if (!send_bytes(simulation))
            break;
        if (simulation->chip->fault) {
            bt_fail(&error, BT_DEVICE, "the gateware is wrong: %s", simulation->chip->fault);
            return report(&error);
        }
    }
    return virtual_bus_failure(simulation->bus, &error) < 0 ? report(&error) : 0;
}

/* --- start ------------------------------------------------------------------------------------ */

static int open_board(struct simulation *simulation, const struct gateware_options *options,
                      struct bt_error *error)
{
    uint64_t bus_hz = virtual_bus_clock_hz(simulation->bus);
    const struct gateware_settings settings = {.bus_hz = bus_hz ? bus_hz : 100000000,
                                               .core_hz = options->core_hz,
                                               .link_hz = GATEWARE_LINK_HZ,
                                               .seed = options->seed ? options->seed : 1,
                                               .vcd = options->vcd};
    FILE *vcd = options->vcd ? fopen(options->vcd, "w") : NULL;
    if (options->vcd && !vcd)
        return bt_fail_errno(error, "cannot write %.300s", options->vcd);
    if (vcd)
        fclose(vcd);
    simulation->board = gateware_board_new(&settings);
    if (!simulation->board)
        return bt_fail(error, BT_MEMORY, "no memory for the board");
    simulation->chip = gateware_board_chip(simulation->board);
    const uint64_t share = UINT32_MAX * options->link_bytes / GATEWARE_LINK_HZ;
    simulation->chip->write_share = (uint32_t)(options->seed ? share - share / 8 : share);
    if (options->seed)
        simulation->chip->read_share = UINT32_MAX / 2;
    simulation->idle_limit = 1000000 + 100 * UINT64_C(1000000000) / options->link_bytes;
    return 0;
}

int main(int count, char **arguments)
{
    static struct simulation simulation;
    struct gateware_options options;
    struct bt_error error = {0};
    if (count == 2 && (strcmp(arguments[1], "-h") == 0 || strcmp(arguments[1], "--help") == 0))
        return fputs(gateware_usage, stdout) < 0 || fflush(stdout) != 0 ? 3 : 0;
    if (gateware_options_parse(&options, count - 1, arguments + 1, &error) < 0) {
        fprintf(stderr, "bustap-gateware: %s, see 'bustap-gateware --help'\n",
                PRINTABLE(error.message));
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    options.bus.clock_hz = options.bus_hz;
    simulation.bus = virtual_bus_new(&options.bus, &error);
    if (!simulation.bus)
        return report(&error);
    simulation.front = virtual_bus_front(simulation.bus, NULL);
    int status = open_board(&simulation, &options, &error) < 0 ? report(&error) : run(&simulation);
    gateware_board_free(simulation.board);
    virtual_bus_free(simulation.bus);
    return status;
}
