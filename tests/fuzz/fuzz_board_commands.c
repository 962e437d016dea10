/*
 * A host that sends anything to a board whose bus does anything: the input is a script of steps.
 * The board's frames must be valid, numbered without a gap, and account for every request.
 */
#include "tests/support/board_rig.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOVES_MAX  4096u
#define PHASES_MAX 4096u

struct script {
    const uint8_t *data;
    size_t size;
    uint32_t sessions; /* each ARM uses a new id */
};

static uint64_t number(struct script *script, size_t bytes)
{
    uint64_t value = 0;
    for (; bytes > 0 && script->size > 0; bytes--, script->size--)
        value = value << 8 | *script->data++;
    return value;
}

static void say_command(struct board_rig *rig, struct script *script)
{
    uint8_t body[WIRE_COMMAND_BODY_MAX];
    enum wire_command_code code = (enum wire_command_code)number(script, 1);
    if (code == WIRE_ARM)
        return; /* say_arm knows the next session */
    size_t size = number(script, 1) % (sizeof body + 1);
    for (size_t i = 0; i < size; i++)
        body[i] = (uint8_t)number(script, 1);
    board_rig_command(rig, code, (uint32_t)number(script, 1), body, size);
}

/* Sends a valid configuration and an ARM, which random bytes would hardly ever contain. */
static void say_arm(struct board_rig *rig, struct script *script)
{
    uint8_t body[WIRE_CONFIGURATION_BYTES], id[4];
    struct wire_configuration configuration = {.filter = filter_all(),
                                               .packing = number(script, 1) & 1,
                                               .flush_us = (uint32_t)number(script, 2),
                                               .heartbeat_ms = (uint32_t)number(script, 1)};
    wire_configuration_put(body, &configuration);
    bytes_put32(id, ++script->sessions);
    board_rig_command(rig, WIRE_CONFIGURE, 1, body, sizeof body);
    board_rig_command(rig, WIRE_ARM, 2, id, sizeof id);
}

static size_t make_phases(struct bus_phase *phases, size_t count, struct script *script)
{
    size_t more = number(script, 2) % 2000;
    uint64_t seed = number(script, 3) | 1, tick = count ? phases[count - 1].tick : 0;
    unsigned kind = (unsigned)number(script, 1);
    for (; more > 0 && count < PHASES_MAX; more--, count++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        tick += kind & 1 ? seed >> 30 : seed >> 56;
        phases[count] = (struct bus_phase){.tick = tick,
                                           .address_a = seed >> 28,
                                           .address_b = (uint32_t)(seed >> 20),
                                           .missed = kind & 2 && !(seed >> 60) ? seed >> 50 & 7 : 0,
                                           .request_a = kind & 4 ? seed >> 40 & 31 : 004,
                                           .request_b = kind & 8 ? seed >> 45 & 31 : 0};
    }
    return count;
}

/* State of a host that reads the frames. */
struct host {
    uint32_t session;
    uint32_t next_sequence;
    uint64_t next_index;
};

static void judge(const struct wire_frame *frame, struct host *host)
{
    static struct record records[WIRE_FRAME_RECORDS_MAX];
    if (frame->session == 0)
        return;
    if (frame->kind == WIRE_START)
        *host = (struct host){.session = frame->session};
    if (frame->session != host->session || frame->sequence != host->next_sequence++ ||
        frame->first_index != host->next_index + frame->lost ||
        frame->lost_first_tick > frame->lost_last_tick)
        abort();
    host->next_index += frame->lost + frame->count;
    if ((frame->kind == WIRE_RECORDS || frame->kind == WIRE_PACKED) &&
        wire_frame_records(frame, records) < 0)
        abort();
}

static void move(struct board_rig *rig, struct bus_phase *phases, struct script *script)
{
    uint8_t bytes[64];
    switch (number(script, 1) % 8) {
    case 0:
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)number(script, 1);
        board_rig_say(rig, bytes, 1 + number(script, 1) % sizeof bytes);
        break;
    case 1:
        say_command(rig, script);
        break;
    case 2:
        say_arm(rig, script);
        break;
    case 3:
        rig->happened = make_phases(phases, rig->happened, script);
        break;
    case 4:
        rig->link_room = number(script, 2);
        break;
    case 5:
        rig->microseconds += number(script, 2);
        break;
    case 6:
        rig->ended = number(script, 1) & 1;
        break;
    default:
        for (uint64_t steps = number(script, 1); steps > 0; steps--)
            board_step(&rig->board);
        break;
    }
    board_step(&rig->board);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct bus_phase phases[PHASES_MAX];
    struct script script = {.data = data, .size = size};
    struct board_rig *rig = board_rig_new(4 + (uint32_t)number(&script, 1) % 8);
    struct host host = {0};
    struct wire_frame frame;
    struct wire_counters counters;
    rig->phases = phases;
    for (unsigned moves = 0; moves < MOVES_MAX && script.size > 0; moves++) {
        move(rig, phases, &script);
        while (board_rig_frame(rig, &frame))
            judge(&frame, &host);
        board_counters(&rig->board, &counters);
        if (counters.seen !=
            counters.accepted + counters.filtered + counters.above_4gib + counters.undecoded)
            abort();
        if (counters.queue_fill > rig->board.queue.count ||
            (rig->board.session == host.session && counters.accepted < host.next_index))
            abort();
    }
    if (wire_reader_statistics(rig->reader)->skipped_bytes > 0)
        abort();
    board_rig_free(rig);
    return 0;
}
