/*
 * The simulated gateware as a program: standard input and output carry the bytes of its USB chip,
 * and a virtual bus puts requests on its pins. Simulated time stops while the board is idle and no
 * command arrives, and while the reader of standard output does not keep up.
 */
#include "firmware/gateware/sim/gateware_board.h"
#include "firmware/gateware/sim/gateware_options.h"
#include "formats/base/file_io.h"
#include "formats/base/printable.h"
#include "formats/base/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
    bool ended;                   /* standard input */
    uint64_t ended_ns;            /* since then */
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

/* A session begins or ends: the phases that wait come from the next tick on. */
static void place_again(struct simulation *simulation)
{
    struct bus_phase *phases = simulation->phases + simulation->first;
    simulation->begun = simulation->count > 0;
    if (!simulation->begun)
        return;
    uint64_t later = gateware_board_tick(simulation->board) + 1 - phases[0].tick;
    for (size_t i = 0; i < simulation->count; i++)
        phases[i].tick += later;
    simulation->put += later;
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
        simulation->stopped = false;
        simulation->quiet_ns = 0;
        place_again(simulation);
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

static bool is_idle(const struct simulation *simulation)
{
    return !simulation->armed && simulation->idle_ns >= simulation->idle_limit;
}

/* Reads commands, and waits for them if the board is idle. 1, 0 if there will be no more,
 * or a negative code. */
static int read_commands(struct simulation *simulation, struct bt_error *error)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&input, 1, is_idle(simulation) ? -1 : 0) <= 0)
        return 1;
    ssize_t size = file_read(STDIN_FILENO, simulation->commands, sizeof simulation->commands);
    if (size <= 0)
        return size == 0 ? 0 : bt_fail_errno(error, "cannot read standard input");
    simulation->commands_first = 0;
    simulation->commands_count = (size_t)size;
    simulation->idle_ns = 0;
    return 1;
}

/* Passes on commands. After the end of standard input, the board first answers the last ones, and
 * ends its session if that is one of them. 1, 0 at the end, or a negative code. */
static int take_commands(struct simulation *simulation, struct bt_error *error)
{
    if (simulation->commands_count == 0 && !simulation->ended) {
        int more = read_commands(simulation, error);
        if (more < 0)
            return more;
        simulation->ended = more == 0;
    }
    size_t put = ft245_chip_put(simulation->chip, simulation->commands + simulation->commands_first,
                                simulation->commands_count);
    simulation->commands_first += put;
    simulation->commands_count -= put;
    if (simulation->ended && put == 0)
        simulation->ended_ns += STEP_NS;
    bool owes = simulation->armed || simulation->commands_count + simulation->chip->from_count > 0;
    bool late = owes && simulation->ended_ns > simulation->idle_limit;
    return simulation->ended_ns == 0 || !(late || is_idle(simulation));
}

/* Writes what the board has sent, however long that takes. 1, 0 if its reader has gone, or a
 * negative code. */
static int send_bytes(struct simulation *simulation, struct bt_error *error)
{
    uint8_t bytes[FT245_BYTES];
    size_t size = ft245_chip_take(simulation->chip, bytes, sizeof bytes);
    bool busy = size > 0 || simulation->chip->from_count > 0;
    simulation->idle_ns = busy ? 0 : simulation->idle_ns + STEP_NS;
    if (file_write(STDOUT_FILENO, bytes, size, NULL) == 0)
        return 1;
    return errno == EPIPE ? 0 : bt_fail_errno(error, "cannot write standard output");
}

static int run(struct simulation *simulation, struct bt_error *error)
{
    int more;
    while ((more = take_commands(simulation, error)) > 0) {
        run_board(simulation);
        more = send_bytes(simulation, error);
        if (simulation->chip->fault)
            return bt_fail(error, BT_DEVICE, "the gateware is wrong: %s", simulation->chip->fault);
        if (more <= 0)
            break;
    }
    return more < 0 ? more : virtual_bus_failure(simulation->bus, error);
}

/* --- start ------------------------------------------------------------------------------------ */

/* Opens the file of signals, which may not be the one that is replayed. */
static int open_vcd(int *vcd, const struct gateware_options *options, struct bt_error *error)
{
    struct stat signals, trace;
    if (!options->vcd)
        return 0;
    if (stat(options->vcd, &signals) == 0 && stat(options->bus.replay, &trace) == 0 &&
        S_ISREG(trace.st_mode) && signals.st_dev == trace.st_dev && signals.st_ino == trace.st_ino)
        return bt_fail(error, BT_USAGE, "%.300s is replayed: vcd= needs another name",
                       options->vcd);
    *vcd = open(options->vcd, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return *vcd < 0 ? bt_fail_errno(error, "cannot write %.300s", options->vcd) : 0;
}

static int check_clock(uint64_t hz, const char *trace, struct bt_error *error)
{
    return hz >= GATEWARE_BUS_MIN && hz <= GATEWARE_BUS_MAX
               ? 0
               : bt_fail(error, BT_USAGE, "%.300s has a clock of %llu Hz: give bus=HZ", trace,
                         (unsigned long long)hz);
}

static int open_board(struct simulation *simulation, const struct gateware_options *options,
                      struct bt_error *error)
{
    uint64_t bus_hz = virtual_bus_clock_hz(simulation->bus);
    struct gateware_settings settings = {.bus_hz = bus_hz ? bus_hz : 100000000,
                                         .core_hz = options->core_hz,
                                         .link_hz = GATEWARE_LINK_HZ,
                                         .seed = options->seed ? options->seed : 1};
    int result = check_clock(settings.bus_hz, options->bus.replay, error);
    if (result == 0)
        result = open_vcd(&settings.vcd, options, error);
    if (result < 0)
        return result;
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
    if (standard_streams_keep() < 0)
        return 3;
    signal(SIGPIPE, SIG_IGN);
    if (count == 2 && (strcmp(arguments[1], "-h") == 0 || strcmp(arguments[1], "--help") == 0)) {
        fputs(gateware_usage, stdout);
        return standard_streams_finish(&error) < 0 ? report(&error) : 0;
    }
    if (gateware_options_parse(&options, count - 1, arguments + 1, &error) < 0) {
        fprintf(stderr, "bustap-gateware: %s, see 'bustap-gateware --help'\n",
                PRINTABLE(error.message));
        return 2;
    }
    options.bus.clock_hz = options.bus_hz;
    simulation.bus = virtual_bus_new(&options.bus, &error);
    if (!simulation.bus)
        return report(&error);
    simulation.front = virtual_bus_front(simulation.bus, NULL);
    int result = open_board(&simulation, &options, &error);
    if (result == 0)
        result = run(&simulation, &error);
    errno = gateware_board_free(simulation.board);
    if (errno != 0 && result == 0)
        result = bt_fail_errno(&error, "cannot write %.300s", options.vcd);
    virtual_bus_free(simulation.bus);
    return result < 0 ? report(&error) : 0;
}
