#include "tests/support/board_rig.h"

#include "firmware/p6.h"

#include <stdlib.h>
#include <string.h>

static size_t bus_take(void *context, struct bus_phase *phases, size_t capacity)
{
    struct board_rig *rig = context;
    size_t count = rig->happened - rig->taken;
    if (count > capacity)
        count = capacity;
    if (count == 0)
        return 0;
    memcpy(phases, rig->phases + rig->taken, count * sizeof *phases);
    rig->taken += count;
    if (phases[count - 1].tick > rig->now)
        rig->now = phases[count - 1].tick;
    return count;
}

static uint64_t bus_now(void *context)
{
    return ((struct board_rig *)context)->now;
}

static uint64_t bus_microseconds(void *context)
{
    return ((struct board_rig *)context)->microseconds;
}

static bool bus_ended(void *context)
{
    const struct board_rig *rig = context;
    return rig->ended && rig->taken == rig->happened;
}

static void bus_stall(void *context, enum bus_stall stall)
{
    struct board_rig *rig = context;
    rig->stalls.count += stall == BUS_STALL_NOW;
    rig->stall = stall;
}

static struct bus_stalls bus_stalls(void *context)
{
    return ((struct board_rig *)context)->stalls;
}

static size_t link_send(void *context, const uint8_t *bytes, size_t size)
{
    struct board_rig *rig = context;
    size_t capacity;
    uint8_t *space = wire_reader_space(rig->reader, &capacity);
    if (size > rig->link_room)
        size = rig->link_room;
    if (size > capacity)
        size = capacity;
    memcpy(space, bytes, size);
    wire_reader_added(rig->reader, size);
    rig->link_room -= size;
    return size;
}

static size_t link_receive(void *context, uint8_t *bytes, size_t capacity)
{
    struct board_rig *rig = context;
    size_t size = rig->command_size - rig->command_taken;
    if (size > capacity)
        size = capacity;
    memcpy(bytes, rig->commands + rig->command_taken, size);
    rig->command_taken += size;
    return size;
}

struct board_rig *board_rig_new(uint32_t frame_count)
{
    struct board_rig *rig = calloc(1, sizeof *rig);
    if (!rig || !(rig->reader = wire_reader_new()))
        abort();
    rig->link_room = SIZE_MAX;
    struct wire_identity identity = {
        .bus = WIRE_BUS_P6, .clock_hz = 100000000, .name = "rig", .serial = "1"};
    struct bus_front bus = {.take = bus_take,
                            .now = bus_now,
                            .microseconds = bus_microseconds,
                            .ended = bus_ended,
                            .stall = bus_stall,
                            .stalls = bus_stalls,
                            .context = rig};
    struct board_link link = {.send = link_send, .receive = link_receive, .context = rig};
    board_init(&rig->board, &identity, &bus, &link, rig->frames, frame_count);
    return rig;
}

void board_rig_free(struct board_rig *rig)
{
    wire_reader_free(rig->reader);
    free(rig);
}

void board_rig_say(struct board_rig *rig, const uint8_t *bytes, size_t size)
{
    if (rig->command_taken == rig->command_size)
        rig->command_taken = rig->command_size = 0;
    if (size > sizeof rig->commands - rig->command_size)
        size = sizeof rig->commands - rig->command_size;
    memcpy(rig->commands + rig->command_size, bytes, size);
    rig->command_size += size;
}

void board_rig_command(struct board_rig *rig, enum wire_command_code code, uint32_t tag,
                       const uint8_t *body, size_t size)
{
    uint8_t bytes[WIRE_COMMAND_MAX] = {0};
    struct wire_command command = {.version = WIRE_VERSION,
                                   .code = (uint8_t)code,
                                   .body_bytes = (uint16_t)size,
                                   .tag = tag,
                                   .body = body};
    board_rig_say(rig, bytes, wire_command_put(bytes, &command));
}

void board_rig_arm(struct board_rig *rig, const struct wire_configuration *configuration,
                   uint32_t session)
{
    uint8_t body[WIRE_CONFIGURATION_BYTES], id[4];
    struct wire_frame frame;
    wire_configuration_put(body, configuration);
    bytes_put32(id, session);
    board_rig_command(rig, WIRE_CONFIGURE, 1, body, sizeof body);
    board_rig_command(rig, WIRE_ARM, 2, id, sizeof id);
    if (!board_rig_await(rig, WIRE_START, &frame))
        abort();
}

void board_rig_settle(struct board_rig *rig)
{
    while (board_step(&rig->board))
        ;
}

bool board_rig_frame(struct board_rig *rig, struct wire_frame *frame)
{
    return wire_reader_next(rig->reader, frame) == 1;
}

bool board_rig_await(struct board_rig *rig, enum wire_kind kind, struct wire_frame *frame)
{
    for (;;) {
        while (board_rig_frame(rig, frame))
            if (frame->kind == kind)
                return true;
        if (!board_step(&rig->board))
            return false;
    }
}

struct bus_phase board_rig_fetch(uint64_t tick, uint32_t address)
{
    struct record record = {.address = address, .type = REQUEST_FETCH, .size = 8};
    struct bus_phase phase = {.tick = tick};
    if (p6_encode(&record, &phase))
        abort();
    return phase;
}
