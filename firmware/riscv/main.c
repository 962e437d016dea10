/* The board's main: the same board as on a host, with memory-mapped FIFOs. */
#include "firmware/board_state.h"
#include "firmware/riscv/registers.h"

#ifndef BOARD_QUEUE_FRAMES
#define BOARD_QUEUE_FRAMES 24u
#endif

#define FIRMWARE_VERSION 0x00010000u

static uint64_t wide(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

static size_t bus_take(void *context, struct bus_phase *phases, size_t capacity)
{
    volatile struct bus_registers *bus = context;
    size_t count = 0;
    while (count < capacity && bus->status & BUS_PHASE_THERE) {
        uint32_t request = bus->phase_request;
        struct bus_phase *phase = &phases[count++];
        phase->tick = wide(bus->phase_tick_high, bus->phase_tick_low);
        phase->address_a = wide(request & 15u, bus->phase_address_a);
        phase->address_b = bus->phase_address_b;
        phase->missed = bus->phase_missed;
        phase->request_a = request & BUS_PHASE_NONE ? BUS_NO_REQUEST : request >> 8 & 31u;
        phase->request_b = request >> 16 & 31u;
        bus->phase_next = 1;
    }
    return count;
}

static uint64_t bus_now(void *context)
{
    volatile struct bus_registers *bus = context;
    uint32_t low = bus->tick_low;
    return wide(bus->tick_high, low);
}

static uint64_t bus_microseconds(void *context)
{
    volatile struct bus_registers *bus = context;
    (void)bus->tick_low; /* latches the other three */
    uint32_t low = bus->microseconds_low;
    return wide(bus->microseconds_high, low);
}

static bool bus_ended(void *context)
{
    (void)context;
    return false;
}

static void bus_stall(void *context, enum bus_stall stall)
{
    volatile struct bus_registers *bus = context;
    bus->stall = stall;
}

static struct bus_stalls bus_stalls(void *context)
{
    volatile struct bus_registers *bus = context;
    uint32_t ticks_low = bus->stalled_low;
    uint32_t ticks_high = bus->stalled_high;
    uint32_t count_low = bus->stalls_low;
    return (struct bus_stalls){.ticks = wide(ticks_high, ticks_low),
                               .count = wide(bus->stalls_high, count_low)};
}

static size_t link_send(void *context, const uint8_t *bytes, size_t size)
{
    volatile struct link_registers *link = context;
    size_t room = link->room, sent = 0;
    size = size < room ? size : room;
    for (; size - sent >= 4; sent += 4)
        link->word = bytes_get32(bytes + sent);
    for (; sent < size; sent++)
        link->data = bytes[sent];
    return size;
}

static size_t link_receive(void *context, uint8_t *bytes, size_t capacity)
{
    volatile struct link_registers *link = context;
    size_t size = link->received;
    size = size < capacity ? size : capacity;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)link->data;
    return size;
}

static void put_serial(char *text, uint64_t serial)
{
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < 16; i++)
        text[i] = digits[serial >> (60 - 4 * i) & 15u];
    text[16] = '\0';
}

int main(void)
{
    static struct board board;
    static struct board_frame frames[BOARD_QUEUE_FRAMES];
    struct wire_identity identity = {.bus = WIRE_BUS_P6,
                                     .firmware = FIRMWARE_VERSION,
                                     .clock_hz = BOARD_REGISTERS->clock_hz,
                                     .name = "bustap-p6"};
    put_serial(identity.serial, wide(BOARD_REGISTERS->serial_high, BOARD_REGISTERS->serial_low));
    const bool can_stall = BUS_REGISTERS->status & BUS_CAN_STALL;
    const struct bus_front bus = {.take = bus_take,
                                  .now = bus_now,
                                  .microseconds = bus_microseconds,
                                  .ended = bus_ended,
                                  .stall = can_stall ? bus_stall : NULL,
                                  .stalls = can_stall ? bus_stalls : NULL,
                                  .context = (void *)(uintptr_t)BUS_REGISTERS};
    const struct board_link link = {
        .send = link_send, .receive = link_receive, .context = (void *)(uintptr_t)LINK_REGISTERS};
    board_init(&board, &identity, &bus, &link, frames, BOARD_QUEUE_FRAMES);

    for (bool busy = true;;) {
        bool was_busy = busy;
        busy = board_step(&board);
        /* The last frame must not wait until the next one fills its packet. */
        if (was_busy && !busy)
            LINK_REGISTERS->flush = 1;
    }
}
