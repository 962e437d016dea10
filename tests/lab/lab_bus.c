#include "tests/lab/lab_bus.h"

#include "firmware/board_state.h"
#include "firmware/p6.h"
#include "formats/base/clock.h"

#define LATE_NS  20000000 /* maximum delay that is caught up */
#define TURN_NS  1000000  /* minimum time between two counts of due requests */
#define TICKS    30u      /* from one request to the next, plus or minus 15 */
#define PROGRAMS 4u

/* One request in N has a time that does not fit a record. */
#define PAUSE_EACH  UINT64_C(1000003)
#define PAUSE_TICKS UINT64_C(5000000000)

/* A number without a pattern. */
static uint32_t scatter(uint64_t index)
{
    uint64_t x = index * UINT64_C(0x9e3779b97f4a7c15);
    x ^= x >> 29;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(x >> 32);
}

static uint64_t tick_of(uint64_t index)
{
    return (index + 1) * TICKS + (scatter(index) >> 28) + index / PAUSE_EACH * PAUSE_TICKS;
}

/*
 * Four processors take turns: each fetches code in a loop, and reads and writes lines of its data
 * here and there, as real traces do.
 */
struct record lab_bus_request(uint64_t index, uint64_t *tick)
{
    const uint32_t number = scatter(index), processor = index % PROGRAMS;
    const uint32_t turn = (uint32_t)(index / PROGRAMS);
    struct record record = {.size = 32, .attribute = 7, .processor = (uint8_t)processor};
    switch (number & 15) {
    case 0: /* data somewhere */
        record.type = REQUEST_MEMREADINV;
        record.address = 0x40000000u + (processor << 24) + (number >> 4 & 0xffffe0u);
        break;
    case 1: /* a device */
        record.type = REQUEST_IOREAD;
        record.size = 4;
        record.attribute = 0;
        record.address = 0x3f0u + (number >> 4 & 4u);
        break;
    case 2:
    case 3: /* an array, written from its start to its end */
        record.type = REQUEST_MEMWRITE;
        record.address = 0x20000000u + (processor << 24) + (turn * 4 & 0xffffe0u);
        break;
    default: /* code */
        record.type = REQUEST_FETCH;
        record.address = 0x00100000u + (processor << 20) + (turn * 32 & 0xffe0u);
        break;
    }
    *tick = tick_of(index);
    return record;
}

struct record lab_bus_record(uint64_t index)
{
    uint64_t tick;
    struct record record = lab_bus_request(index, &tick);
    uint64_t time = index ? tick - tick_of(index - 1) : tick;
    record.time = time < UINT32_MAX ? (uint32_t)time : UINT32_MAX;
    return record;
}

void lab_bus_init(struct lab_bus *bus, const struct board *board)
{
    *bus = (struct lab_bus){.board = board, .requests = UINT64_MAX};
    bus->looked_ns = clock_monotonic_ns();
}

void lab_bus_set_rate(struct lab_bus *bus, double rate)
{
    bus->rate = rate;
    bus->owed = 0;
    bus->looked_ns = clock_monotonic_ns();
}

/* A new session begins with request 0. */
static bool armed(struct lab_bus *bus)
{
    if (!board_armed(bus->board))
        return false;
    if (bus->session != bus->board->session) {
        bus->session = bus->board->session;
        bus->sent = 0;
        bus->base = bus->tick;
        lab_bus_set_rate(bus, bus->rate);
    }
    return true;
}

static size_t due(struct lab_bus *bus, size_t capacity)
{
    int64_t now = clock_monotonic_ns(), passed = now - bus->looked_ns;
    if (passed >= TURN_NS) {
        double most = bus->rate * LATE_NS / 1e9 + 1;
        bus->looked_ns = now;
        bus->owed += bus->rate * (double)(passed < LATE_NS ? passed : LATE_NS) / 1e9;
        bus->owed = bus->owed < most ? bus->owed : most;
    }
    uint64_t left = bus->requests > bus->sent ? bus->requests - bus->sent : 0;
    size_t count = capacity;
    count = bus->owed < (double)count ? (size_t)bus->owed : count;
    count = left < count ? (size_t)left : count;
    bus->owed -= (double)count;
    return count;
}

/* Real time since ns, in ticks. */
static uint64_t ticks_since(int64_t ns)
{
    return (uint64_t)(clock_monotonic_ns() - ns) / (UINT64_C(1000000000) / LAB_BUS_CLOCK_HZ);
}

static void stall(void *context, enum bus_stall stall)
{
    struct lab_bus *bus = context;
    const bool stalled = stall == BUS_STALL_NOW;
    if (stalled == bus->stalled)
        return;
    if (stalled) {
        bus->stalled_ns = clock_monotonic_ns();
        bus->stalls.count++;
    } else {
        uint64_t ticks = ticks_since(bus->stalled_ns);
        bus->stalls.ticks += ticks;
        bus->base += ticks;
        bus->tick += ticks;
        lab_bus_set_rate(bus, bus->rate);
    }
    bus->stalled = stalled;
}

static struct bus_stalls stalls(void *context)
{
    const struct lab_bus *bus = context;
    struct bus_stalls stalls = bus->stalls;
    stalls.ticks += bus->stalled ? ticks_since(bus->stalled_ns) : 0;
    return stalls;
}

static size_t take(void *context, struct bus_phase *phases, size_t capacity)
{
    struct lab_bus *bus = context;
    if (!armed(bus) || bus->stalled)
        return 0;
    size_t count = due(bus, capacity);
    for (size_t i = 0; i < count; i++) {
        uint64_t tick;
        struct record record = lab_bus_request(bus->sent++, &tick);
        (void)p6_encode(&record, &phases[i]); /* all can be encoded */
        phases[i].tick = bus->tick = bus->base + tick;
    }
    return count;
}

static uint64_t now(void *context)
{
    const struct lab_bus *bus = context;
    return bus->tick + (bus->stalled ? ticks_since(bus->stalled_ns) : 0);
}

static uint64_t microseconds(void *context)
{
    (void)context;
    return (uint64_t)clock_monotonic_ns() / 1000;
}

static bool ended(void *context)
{
    struct lab_bus *bus = context;
    return armed(bus) && bus->sent >= bus->requests;
}

struct bus_front lab_bus_front(struct lab_bus *bus)
{
    return (struct bus_front){.take = take,
                              .now = now,
                              .microseconds = microseconds,
                              .ended = ended,
                              .stall = stall,
                              .stalls = stalls,
                              .context = bus};
}
