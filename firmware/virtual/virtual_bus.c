#include "firmware/virtual/virtual_bus.h"

#include "firmware/board.h"
#include "firmware/virtual/replay.h"
#include "firmware/virtual/smp.h"
#include "formats/base/clock.h"

#include <stdlib.h>
#include <string.h>

#define AHEAD         256u                  /* phases made in advance */
#define CLOCK_HZ      UINT64_C(100000000)   /* default of the workload */
#define FREQUENCY_MAX UINT64_C(10000000000) /* keeps nanoseconds times frequency in 64 bits */
#define SECOND        UINT64_C(1000000000)  /* in ns */
#define UNKNOWN_GAP   UINT64_C(0xffffffff)  /* a saturated time: the interval is unknown */

struct virtual_bus {
    struct replay *replay; /* one of the two is set */
    struct smp *smp;
    const struct board *board;
    enum bus_pace pace;
    uint64_t frequency; /* the pace, in ticks or phases per second; 0 for BUS_PACE_MAX */
    uint64_t clock_hz;
    uint64_t left; /* phases still to make; UINT64_MAX: no end */
    uint64_t sent;
    uint64_t last_tick;       /* of the last phase delivered to the board */
    uint64_t start_ns;        /* when the bus began, or continued after an unknown gap */
    uint64_t start;           /* the tick or phase number at start_ns */
    bool stalled;             /* now */
    uint64_t stall_ns;        /* when that stall began */
    struct bus_stalls stalls; /* those that have ended delay all later phases by their ticks */
    bool started;             /* a host has armed the board, or there is none */
    bool exhausted;           /* no more phases can be made */
    size_t first, count;      /* phases[first .. first + count) are made */
    struct bus_phase phases[AHEAD];
};

static int check(const struct virtual_bus_settings *settings, struct bt_error *error)
{
    if (!settings->source && !settings->replay[0] &&
        (settings->processors < 1 || settings->processors > 8))
        return bt_fail(error, BT_USAGE, "a virtual multiprocessor has 1 to 8 processors");
    if (settings->clock_hz > FREQUENCY_MAX)
        return bt_fail(error, BT_USAGE, "a virtual bus has a clock of at most 10 GHz");
    if (settings->pace == BUS_PACE_RATE &&
        (settings->phases_per_second == 0 || settings->phases_per_second > FREQUENCY_MAX))
        return bt_fail(error, BT_USAGE, "a rate is 1 to 10 G requests a second");
    return 0;
}

static int open_origin(struct virtual_bus *bus, const struct virtual_bus_settings *settings,
                       struct bt_error *error)
{
    if (settings->source) {
        bus->replay = replay_new_source(settings->source, error);
        if (bus->replay && bus->clock_hz == 0)
            bus->clock_hz = replay_clock_hz(bus->replay);
    } else if (settings->replay[0]) {
        bus->replay = replay_new(settings->replay, settings->loop, error);
        if (bus->replay && bus->clock_hz == 0)
            bus->clock_hz = replay_clock_hz(bus->replay);
    } else {
        bus->smp = smp_new(settings->processors, settings->seed);
        if (!bus->smp)
            bt_fail(error, BT_MEMORY, "no memory for a virtual multiprocessor");
        if (bus->clock_hz == 0)
            bus->clock_hz = CLOCK_HZ;
    }
    if (!bus->replay && !bus->smp)
        return BT_MEMORY;
    if (bus->pace == BUS_PACE_REAL && (bus->clock_hz == 0 || bus->clock_hz > FREQUENCY_MAX))
        return bt_fail(error, BT_USAGE,
                       "%s does not specify its clock: rate=real needs clock=HZ too",
                       settings->replay);
    return 0;
}

static struct virtual_bus *make(const struct virtual_bus_settings *settings, struct bt_error *error)
{
    if (check(settings, error) < 0)
        return NULL;
    struct virtual_bus *bus = calloc(1, sizeof *bus);
    if (!bus)
        bt_fail(error, BT_MEMORY, "no memory for a virtual bus");
    return bus;
}

struct virtual_bus *virtual_bus_new(const struct virtual_bus_settings *settings,
                                    struct bt_error *error)
{
    struct virtual_bus *bus = make(settings, error);
    if (!bus) {
        source_close(settings->source);
        return NULL;
    }
    bus->pace = settings->pace;
    bus->clock_hz = settings->clock_hz;
    bus->left = settings->requests ? settings->requests : UINT64_MAX;
    if (open_origin(bus, settings, error) < 0) {
        virtual_bus_free(bus);
        return NULL;
    }
    if (bus->pace != BUS_PACE_MAX)
        bus->frequency = bus->pace == BUS_PACE_REAL ? bus->clock_hz : settings->phases_per_second;
    return bus;
}

void virtual_bus_free(struct virtual_bus *bus)
{
    if (!bus)
        return;
    replay_free(bus->replay);
    smp_free(bus->smp);
    free(bus);
}

/* Makes phases in advance. False if there will never be another. */
static bool refill(struct virtual_bus *bus)
{
    if (bus->count > 0)
        return true;
    size_t wanted = bus->left < AHEAD ? (size_t)bus->left : AHEAD;
    bus->first = 0;
    if (!bus->exhausted && wanted > 0)
        bus->count = bus->replay ? replay_fill(bus->replay, bus->phases, wanted)
                                 : smp_fill(bus->smp, bus->phases, wanted);
    if (bus->left != UINT64_MAX)
        bus->left -= bus->count;
    bus->exhausted = bus->count == 0 && !(bus->replay && wanted > 0 && !replay_ended(bus->replay));
    return bus->count > 0;
}

/* The current position of the bus: a tick or a number of phases, by the pace. */
static uint64_t progress(const struct virtual_bus *bus)
{
    uint64_t now = bus->stalled ? bus->stall_ns : (uint64_t)clock_monotonic_ns();
    uint64_t ns = now - bus->start_ns;
    return bus->start + ns / SECOND * bus->frequency + ns % SECOND * bus->frequency / SECOND;
}

/* Number of leading phases separated by known times and close enough for the guarantee of
 * board_room. */
static size_t run_length(const struct virtual_bus *bus, size_t limit)
{
    const struct bus_phase *phases = bus->phases + bus->first;
    size_t length = bus->count < limit ? bus->count : limit;
    /* Almost always all of them. */
    while (length > 1 && phases[length - 1].tick - phases[0].tick >= UNKNOWN_GAP)
        length--;
    return length;
}

/* The number of those that are due. */
static size_t due(struct virtual_bus *bus, size_t limit)
{
    const struct bus_phase *phases = bus->phases + bus->first;
    uint64_t now = progress(bus);
    if (bus->pace == BUS_PACE_RATE) {
        uint64_t late = now > bus->sent ? now - bus->sent : 0;
        return late < limit ? (size_t)late : limit;
    }
    if (phases[0].tick - bus->last_tick >= UNKNOWN_GAP) {
        /* An unknown time is not waited for. */
        bus->start_ns = (uint64_t)clock_monotonic_ns();
        bus->start = phases[0].tick;
        now = bus->start;
    }
    size_t length = 0;
    while (length < limit && phases[length].tick <= now)
        length++;
    return length;
}

static bool start(struct virtual_bus *bus)
{
    if (!bus->started && (!bus->board || board_armed(bus->board))) {
        bus->started = true;
        bus->start_ns = (uint64_t)clock_monotonic_ns();
    }
    return bus->started;
}

static size_t bus_take(void *context, struct bus_phase *phases, size_t capacity)
{
    struct virtual_bus *bus = context;
    if (!start(bus) || bus->stalled)
        return 0;
    if (bus->pace == BUS_PACE_MAX && bus->board) {
        uint32_t room = board_room(bus->board);
        capacity = room < capacity ? room : capacity;
    }
    if (capacity == 0 || !refill(bus))
        return 0;
    size_t count = run_length(bus, capacity);
    if (bus->pace != BUS_PACE_MAX)
        count = due(bus, count);
    if (count == 0)
        return 0;
    memcpy(phases, bus->phases + bus->first, count * sizeof *phases);
    bus->first += count;
    bus->count -= count;
    bus->sent += count;
    bus->last_tick = phases[count - 1].tick;
    for (size_t i = 0; i < count; i++)
        phases[i].tick += bus->stalls.ticks;
    return count;
}

/* Real time in ticks; 0 if the clock is unknown. */
static uint64_t ticks_of(const struct virtual_bus *bus, uint64_t ns)
{
    uint64_t clock_hz = bus->clock_hz <= FREQUENCY_MAX ? bus->clock_hz : 0;
    return ns / SECOND * clock_hz + ns % SECOND * clock_hz / SECOND;
}

/* A bus that is as fast as the board is never stalled: it waits, and its time does not pass. */
static void bus_stall(void *context, enum bus_stall stall)
{
    struct virtual_bus *bus = context;
    bool stalled = stall == BUS_STALL_NOW;
    if (bus->pace == BUS_PACE_MAX || stalled == bus->stalled || !start(bus))
        return;
    uint64_t now = (uint64_t)clock_monotonic_ns();
    if (stalled) {
        bus->stall_ns = now;
        bus->stalls.count++;
    } else {
        bus->start_ns += now - bus->stall_ns;
        bus->stalls.ticks += ticks_of(bus, now - bus->stall_ns);
    }
    bus->stalled = stalled;
}

static struct bus_stalls bus_stalls(void *context)
{
    const struct virtual_bus *bus = context;
    struct bus_stalls stalls = bus->stalls;
    if (bus->stalled)
        stalls.ticks += ticks_of(bus, (uint64_t)clock_monotonic_ns() - bus->stall_ns);
    return stalls;
}

static uint64_t bus_now(void *context)
{
    struct virtual_bus *bus = context;
    uint64_t stalled = bus_stalls(bus).ticks;
    if (bus->pace != BUS_PACE_REAL || !bus->started || bus->count == 0)
        return bus->last_tick + stalled;
    /* Time stops at a phase that the board has not taken yet. */
    uint64_t now = progress(bus), next = bus->phases[bus->first].tick;
    now = now < next ? now : next;
    return (now > bus->last_tick ? now : bus->last_tick) + stalled;
}

static uint64_t bus_microseconds(void *context)
{
    (void)context;
    return (uint64_t)clock_monotonic_ns() / 1000;
}

static bool bus_ended(void *context)
{
    struct virtual_bus *bus = context;
    return bus->started && !refill(bus) && bus->exhausted;
}

struct bus_front virtual_bus_front(struct virtual_bus *bus, const struct board *board)
{
    bus->board = board;
    return (struct bus_front){.take = bus_take,
                              .now = bus_now,
                              .microseconds = bus_microseconds,
                              .ended = bus_ended,
                              .stall = bus_stall,
                              .stalls = bus_stalls,
                              .context = bus};
}

int virtual_bus_failure(const struct virtual_bus *bus, struct bt_error *error)
{
    return bus->replay ? replay_failure(bus->replay, error) : 0;
}

uint64_t virtual_bus_clock_hz(const struct virtual_bus *bus)
{
    return bus->clock_hz;
}
