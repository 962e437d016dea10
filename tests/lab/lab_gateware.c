#include "tests/lab/lab_gateware.h"

#include "firmware/gateware/sim/gateware_board.h"
#include "firmware/p6.h"

#include <stdlib.h>
#include <string.h>

#define BUS_HZ  UINT64_C(50000000) /* 1.7 million requests a second, plain, fit the link */
#define CORE_HZ UINT64_C(66000000)
#define LINK_HZ UINT64_C(60000000) /* a byte each */
#define IDLE_NS 1000000u           /* without a byte: the board has nothing to do */
#define AHEAD   256u               /* phases: more than pass in a step */

_Static_assert(LAB_GATEWARE_STEP_TICKS == LAB_GATEWARE_STEP_NS * BUS_HZ / 1000000000,
               "ticks of a step");

struct lab_gateware {
    struct gateware_board *board;
    struct ft245_chip *chip;
    struct lab_bus *bus;
    struct board_link link;
    bool clocked, armed, stopped;
    uint64_t base;           /* the board's tick at the bus's tick 0 in this session */
    uint64_t stalled_before; /* ticks, before this session */
    struct bus_phase phases[AHEAD];
    size_t count;
    uint64_t made; /* phases of this session */
    uint64_t settled_ns, idle_ns;
    uint8_t out[FT245_BYTES]; /* bytes that the link did not take */
    size_t out_first, out_count;
};

struct lab_gateware *lab_gateware_new(struct lab_bus *bus, const struct board_link *link,
                                      double link_bytes)
{
    const struct gateware_settings settings = {
        .bus_hz = BUS_HZ, .core_hz = CORE_HZ, .link_hz = LINK_HZ, .seed = 1};
    struct lab_gateware *self = calloc(1, sizeof *self);
    if (!self || !(self->board = gateware_board_new(&settings))) {
        free(self);
        return NULL;
    }
    self->chip = gateware_board_chip(self->board);
    self->chip->write_share = (uint32_t)(UINT32_MAX * (link_bytes / LAB_GATEWARE_LINK_BYTES));
    self->bus = bus;
    self->link = *link;
    self->clocked = true;
    return self;
}

void lab_gateware_free(struct lab_gateware *self)
{
    if (self)
        gateware_board_free(self->board);
    free(self);
}

bool lab_gateware_armed(const struct lab_gateware *self)
{
    return self->armed;
}

uint64_t lab_gateware_stalled(const struct lab_gateware *self)
{
    return gateware_board_stalled(self->board) - self->stalled_before;
}

/* --- the bus ---------------------------------------------------------------------------------- */

/* The first request of a session comes at once, the others at their ticks after it, and as much
 * later as the bus was stalled. */
static void make_phases(struct lab_gateware *self)
{
    while (self->bus->rate > 0 && self->count < AHEAD && self->made < self->bus->requests) {
        uint64_t tick;
        struct record record = lab_bus_request(self->made, &tick);
        struct bus_phase *phase = &self->phases[self->count++];
        if (self->made++ == 0)
            self->base = gateware_board_tick(self->board);
        (void)p6_encode(&record, phase); /* all can be encoded */
        phase->tick = self->base + tick;
    }
}

static void put_phases(struct lab_gateware *self)
{
    size_t done = gateware_board_run(self->board, LAB_GATEWARE_STEP_NS, self->phases,
                                     self->armed ? self->count : 0);
    self->count -= done;
    self->bus->sent += done;
    memmove(self->phases, self->phases + done, self->count * sizeof *self->phases);
    uint64_t now = gateware_board_tick(self->board);
    uint64_t late = self->count > 0 && self->phases[0].tick < now ? now - self->phases[0].tick : 0;
    self->base += late;
    for (size_t i = 0; late > 0 && i < self->count; i++)
        self->phases[i].tick += late;
}

/* The bus has ended, and its last request has passed the board. */
static void stop_when_ended(struct lab_gateware *self)
{
    if (self->bus->sent < self->bus->requests || self->stopped)
        return;
    self->settled_ns += LAB_GATEWARE_STEP_NS;
    if (self->settled_ns < GATEWARE_SETTLE_NS || self->chip->from_count > 0 || !self->clocked)
        return;
    gateware_board_stop(self->board);
    self->stopped = true;
}

static void follow_session(struct lab_gateware *self)
{
    if (self->armed == gateware_board_armed(self->board))
        return;
    self->armed = !self->armed;
    if (!self->armed)
        return;
    self->stopped = false;
    self->count = 0;
    self->made = self->bus->sent = self->settled_ns = 0;
    self->stalled_before = gateware_board_stalled(self->board);
}

/* --- the link --------------------------------------------------------------------------------- */

static bool take_commands(struct lab_gateware *self)
{
    uint8_t bytes[FT245_BYTES];
    size_t size =
        self->link.receive(self->link.context, bytes, FT245_BYTES - self->chip->from_count);
    return ft245_chip_put(self->chip, bytes, size) > 0;
}

/* Returns whether all that the board has sent is taken. */
static bool send_bytes(struct lab_gateware *self)
{
    if (self->out_count == 0) {
        self->out_first = 0;
        self->out_count = ft245_chip_take(self->chip, self->out, sizeof self->out);
        self->idle_ns = self->out_count > 0 ? 0 : self->idle_ns;
    }
    size_t sent = self->link.send(self->link.context, self->out + self->out_first, self->out_count);
    self->out_first += sent;
    self->out_count -= sent;
    return self->out_count == 0;
}

bool lab_gateware_step(struct lab_gateware *self, bool clocked)
{
    if (clocked != self->clocked)
        gateware_board_clocks(self->board, BUS_HZ, CORE_HZ, clocked ? LINK_HZ : 0);
    self->clocked = clocked;
    if (clocked) {
        if (take_commands(self))
            self->idle_ns = 0;
        if (!send_bytes(self))
            return false;
    }
    if (!self->armed && self->idle_ns >= IDLE_NS)
        return false;
    self->idle_ns += LAB_GATEWARE_STEP_NS;
    if (self->armed)
        make_phases(self);
    put_phases(self);
    if (self->armed)
        stop_when_ended(self);
    follow_session(self);
    return true;
}
