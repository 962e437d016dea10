#include "firmware/gateware/sim/gateware_board.h"

#include "firmware/virtual/random.h"
#include "formats/wire/wire.h"

#include <inttypes.h>
#include <stdlib.h>

#define PICOSECONDS UINT64_C(1000000000000) /* in a second */
#define NEVER       UINT64_MAX

enum clock_name { CLOCK_BUS, CLOCK_CORE, CLOCK_LINK, CLOCKS };

struct clock {
    uint64_t half; /* half a period, in ps; 0: stopped */
    uint64_t next; /* time of the next edge */
};

struct gateware_board {
    struct gateware *gateware;
    struct gateware_pins pins;
    struct clock clocks[CLOCKS];
    uint64_t now;    /* ps */
    bool traced;     /* a file receives all signals */
    FILE *file;      /* the settings' pins */
    uint64_t inputs; /* the last that were written */
    uint32_t outputs;
    uint64_t tick, stalled;
    struct p6_pins p6;
    struct ft245_chip chip;
    struct bus_phase *phases; /* the caller's, while the simulation runs */
    size_t count, done;
};

static void set_clock(struct gateware_board *board, enum clock_name name, uint64_t hz,
                      uint64_t delay)
{
    struct clock *clock = &board->clocks[name];
    clock->half = hz ? PICOSECONDS / 2 / hz : 0;
    clock->next = hz ? board->now + clock->half + delay : NEVER;
}

void gateware_board_clocks(struct gateware_board *board, uint64_t bus_hz, uint64_t core_hz,
                           uint64_t link_hz)
{
    set_clock(board, CLOCK_BUS, bus_hz, 0);
    set_clock(board, CLOCK_CORE, core_hz, 0);
    set_clock(board, CLOCK_LINK, link_hz, 0);
}

/* A line for tests/firmware/gateware/netlist.v: the inputs' bits and the outputs'. */
static void write_pins(struct gateware_board *board)
{
    const struct gateware_pins *pins = &board->pins;
    const uint64_t inputs = pins->a_n << 20 | (uint64_t)pins->req_n << 15 |
                            (uint64_t)pins->reset_n << 14 | (uint64_t)pins->ads_n << 13 |
                            (uint64_t)pins->d_in << 5 | (uint64_t)pins->txe_n << 4 |
                            (uint64_t)pins->rxf_n << 3 | (uint64_t)pins->bclk << 2 |
                            (uint64_t)pins->oscillator << 1 | pins->clkout;
    const uint32_t outputs = (uint32_t)pins->d_driven << 14 | (uint32_t)pins->d_out << 6 |
                             (uint32_t)pins->wr_n << 5 | (uint32_t)pins->rd_n << 4 |
                             (uint32_t)pins->oe_n << 3 | (uint32_t)pins->siwu_n << 2 |
                             (uint32_t)pins->armed_n << 1 | pins->bnr_n;
    if (inputs != board->inputs || outputs != board->outputs)
        fprintf(board->file, "%" PRIx64 " %" PRIx32 "\n", inputs, outputs);
    board->inputs = inputs;
    board->outputs = outputs;
}

static void apply(struct gateware_board *board)
{
    gateware_apply(board->gateware, &board->pins);
    if (board->file)
        write_pins(board);
}

struct gateware_board *gateware_board_new(const struct gateware_settings *settings)
{
    struct gateware_board *board = calloc(1, sizeof *board);
    if (!board || !(board->gateware = gateware_new(settings->vcd))) {
        free(board);
        return NULL;
    }
    uint64_t random = settings->seed;
    board->traced = settings->vcd != 0;
    board->file = settings->pins;
    ft245_chip_init(&board->chip, settings->seed + 1);
    p6_pins_init(&board->p6, &board->pins, settings->seed + 2);
    ft245_chip_drive(&board->chip, &board->pins);
    board->pins.clock_hz = settings->pins ? 0 : (uint32_t)settings->bus_hz;
    apply(board);
    /* The clocks' phases are unrelated. */
    set_clock(board, CLOCK_BUS, settings->bus_hz, virtual_random_below(&random, 10000));
    set_clock(board, CLOCK_CORE, settings->core_hz, virtual_random_below(&random, 10000));
    set_clock(board, CLOCK_LINK, settings->link_hz, virtual_random_below(&random, 10000));
    return board;
}

int gateware_board_free(struct gateware_board *board)
{
    int failure = board ? gateware_free(board->gateware) : 0;
    free(board);
    return failure;
}

static void bus_rises(struct gateware_board *board)
{
    struct bus_phase *phase = board->done < board->count ? &board->phases[board->done] : NULL;
    board->pins.bclk = 1;
    apply(board);
    board->tick++;
    if (phase && phase->tick > board->tick)
        phase = NULL;
    if (p6_pins_clock(&board->p6, &board->pins, phase)) {
        phase->tick = board->tick;
        board->done++;
    }
    board->stalled += board->p6.stalled;
}

static void link_rises(struct gateware_board *board)
{
    ft245_chip_edge(&board->chip, &board->pins);
    board->pins.clkout = 1;
    apply(board);
    ft245_chip_drive(&board->chip, &board->pins);
}

static void edge(struct gateware_board *board, enum clock_name name)
{
    board->clocks[name].next += board->clocks[name].half;
    if (name == CLOCK_BUS && !board->pins.bclk)
        bus_rises(board);
    else if (name == CLOCK_LINK && !board->pins.clkout)
        link_rises(board);
    else if (name == CLOCK_BUS)
        board->pins.bclk = 0;
    else if (name == CLOCK_LINK)
        board->pins.clkout = 0;
    else
        board->pins.oscillator = !board->pins.oscillator;
    apply(board);
}

size_t gateware_board_run(struct gateware_board *board, uint64_t nanoseconds,
                          struct bus_phase *phases, size_t count)
{
    uint64_t end = board->now + nanoseconds * 1000;
    board->phases = phases;
    board->count = count;
    board->done = 0;
    for (;;) {
        enum clock_name first = CLOCK_BUS;
        for (enum clock_name i = CLOCK_CORE; i < CLOCKS; i++)
            if (board->clocks[i].next < board->clocks[first].next)
                first = i;
        /* Several clocks may change at one time. */
        if (board->traced && board->clocks[first].next > board->now)
            gateware_dump(board->gateware, board->now);
        if (board->clocks[first].next >= end)
            break;
        board->now = board->clocks[first].next;
        edge(board, first);
    }
    board->now = end;
    return board->done;
}

bool gateware_board_armed(const struct gateware_board *board)
{
    return !board->pins.armed_n;
}

uint64_t gateware_board_tick(const struct gateware_board *board)
{
    return board->tick;
}

uint64_t gateware_board_skip(struct gateware_board *board, uint64_t clocks)
{
    const uint64_t skipped = gateware_skip(board->gateware, clocks);
    board->tick += skipped;
    return skipped;
}

uint64_t gateware_board_stalled(const struct gateware_board *board)
{
    return board->stalled;
}

void gateware_board_stop(struct gateware_board *board)
{
    uint8_t bytes[WIRE_COMMAND_MAX];
    const struct wire_command stop = {.version = WIRE_VERSION, .code = WIRE_STOP};
    ft245_chip_put(&board->chip, bytes, wire_command_put(bytes, &stop));
}

struct ft245_chip *gateware_board_chip(struct gateware_board *board)
{
    return &board->chip;
}
