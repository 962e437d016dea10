/*
 * The simulated gateware against the board's C code: the same requests and commands, the same
 * frames, byte for byte. What depends on when a frame leaves is taken from the gateware's frame and
 * checked for sense instead: the board's time in frames without records, and how full the queue is.
 * With loss=1 the link is too slow: every record must be the request that its index says, and
 * records and losses must be all that the C code accepts. With missed=1 the core is too slow, too:
 * all requests are ones that the filter keeps, since what the bus's side drops counts as kept.
 * With stall=1 the bus is stalled instead, and nothing may be lost on any link.
 *
 * usage: cosimulate seed=N [requests=N] [gap=CLOCKS] [packed=1] [filter=1] [loss=1] [missed=1]
 * [stall=1] [bus=HZ] [core=HZ] [link=HZ] [pause=PERCENT] [vcd=FILE]
 */
#include "firmware/board_state.h"
#include "firmware/gateware/sim/gateware_board.h"
#include "firmware/p6.h"
#include "firmware/virtual/random.h"
#include "formats/base/crc32c.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION  0xdeadbeefu
#define QUIET_NS 400000u /* longer than anything waits: entries with the time, CONFIGURE */
#define STEP_NS  20000u
#define FRAMES   8u

struct options {
    uint64_t seed, requests, gap, packed, filter, loss, missed, stall, bus, core, link, pause;
    const char *vcd;
};

struct bytes {
    uint8_t *data;
    size_t size, capacity;
};

struct test {
    struct options options;
    uint64_t random;
    struct gateware_board *board;
    struct wire_configuration configuration;
    struct bus_phase *phases;
    struct bytes commands, gateware, twin;
    size_t before_session, before_stop;
};

static _Noreturn void fail(const char *what)
{
    printf("cosimulate: %s\n", what);
    exit(1);
}

static void append(struct bytes *bytes, const uint8_t *data, size_t size)
{
    if (bytes->size + size > bytes->capacity) {
        bytes->capacity = 2 * (bytes->size + size);
        bytes->data = realloc(bytes->data, bytes->capacity);
        if (!bytes->data)
            fail("no memory");
    }
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

/* --- what is done to both -------------------------------------------------------------------- */

static uint32_t below(struct test *test, uint32_t limit)
{
    return virtual_random_below(&test->random, limit);
}

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

/* Any encoding of a request; half of them near the one before, as on a real bus, or near the first
 * ones. */
static void choose_phases(struct test *test)
{
    uint64_t tick = 10;
    for (uint64_t i = 0; i < test->options.requests; i++) {
        struct bus_phase *phase = &test->phases[i];
        uint64_t random = virtual_random(&test->random);
        tick += P6_CLOCKS + (test->options.gap ? below(test, (uint32_t)test->options.gap) : 0);
        *phase = (struct bus_phase){.tick = tick,
                                    .address_a = random >> 20 & 0xffffffff8u,
                                    .address_b = (uint32_t)virtual_random(&test->random) & ~7u,
                                    .request_a = random & 31u,
                                    .request_b = random >> 5 & 31u};
        if (random >> 10 & 3u)
            phase->address_a &= UINT32_MAX;
        if (random >> 12 & 1u)
            phase->request_a = 4;
        if (test->options.missed)
            *phase = (struct bus_phase){.tick = tick,
                                        .address_a = (uint32_t)(random >> 20) & ~7u,
                                        .request_a = 4,
                                        .request_b = 1};
        else if (i > 0 && random >> 13 & 1u) {
            *phase = phase[-1];
            phase->tick = tick;
            if (random >> 32 & 1u)
                phase->address_a = test->phases[i > 8 ? random >> 33 & 7u : 0].address_a;
            phase->address_a =
                (phase->address_a + (random >> 20 & 4095u) - 2048) & UINT64_C(0xffffffff8);
        }
    }
}

static void put_command(struct test *test, uint8_t code, const uint8_t *body, uint16_t size)
{
    uint8_t bytes[WIRE_COMMAND_MAX];
    const struct wire_command command = {.version = WIRE_VERSION,
                                         .code = code,
                                         .tag = 0x1000u + code,
                                         .body = body,
                                         .body_bytes = size};
    append(&test->commands, bytes, wire_command_put(bytes, &command));
}

/* --- the gateware ---------------------------------------------------------------------------- */

static void run(struct test *test, uint64_t nanoseconds, size_t *sent)
{
    struct ft245_chip *chip = gateware_board_chip(test->board);
    uint8_t bytes[FT245_BYTES];
    for (uint64_t i = 0; i < nanoseconds; i += STEP_NS) {
        size_t next = *sent;
        *sent += gateware_board_run(
            test->board, STEP_NS, test->phases + next,
            gateware_board_armed(test->board) ? test->options.requests - next : 0);
        append(&test->gateware, bytes, ft245_chip_take(chip, bytes, sizeof bytes));
    }
    if (chip->fault)
        fail(chip->fault);
}

static void give(struct test *test, size_t *sent)
{
    static size_t given;
    given += ft245_chip_put(gateware_board_chip(test->board), test->commands.data + given,
                            test->commands.size - given);
    run(test, QUIET_NS, sent);
}

/* Runs until no more bytes come. */
static void settle(struct test *test, size_t *sent)
{
    size_t size;
    do {
        size = test->gateware.size;
        run(test, QUIET_NS, sent);
    } while (test->gateware.size != size);
}

static void run_gateware(struct test *test)
{
    uint8_t body[WIRE_CONFIGURATION_BYTES], session[4];
    size_t sent = 0;
    bytes_put32(session, SESSION);
    put_command(test, WIRE_IDENTIFY, NULL, 0);
    wire_configuration_put(body, &test->configuration);
    put_command(test, WIRE_CONFIGURE, body, sizeof body);
    give(test, &sent);
    test->before_session = test->commands.size;
    put_command(test, WIRE_ARM, session, 4);
    for (uint64_t i = 0; i < test->options.requests; i++)
        test->phases[i].tick += gateware_board_tick(test->board) + QUIET_NS / 10;
    give(test, &sent);
    while (sent < test->options.requests)
        run(test, STEP_NS, &sent);
    settle(test, &sent);
    test->before_stop = test->commands.size;
    put_command(test, WIRE_STOP, NULL, 0);
    give(test, &sent);
    put_command(test, WIRE_STATUS, NULL, 0);
    give(test, &sent);
    settle(test, &sent);
}

/* --- the C code ------------------------------------------------------------------------------ */

struct twin {
    struct test *test;
    struct board board;
    struct board_frame frames[FRAMES];
    size_t next_phase, received, limit;
    uint64_t now;
};

static size_t twin_take(void *context, struct bus_phase *phases, size_t capacity)
{
    struct twin *twin = context;
    size_t count = 0;
    if (!board_armed(&twin->board))
        return 0;
    while (count < capacity && twin->next_phase < twin->test->options.requests) {
        phases[count] = twin->test->phases[twin->next_phase++];
        twin->now = phases[count++].tick;
    }
    return count;
}

static uint64_t twin_now(void *context)
{
    return ((struct twin *)context)->now;
}

static uint64_t twin_microseconds(void *context)
{
    (void)context;
    return 0;
}

static bool twin_ended(void *context)
{
    (void)context;
    return false;
}

/* Its link is fast enough: it need not stall. */
static void twin_stall(void *context, enum bus_stall stall)
{
    (void)context;
    (void)stall;
}

static struct bus_stalls twin_stalls(void *context)
{
    (void)context;
    return (struct bus_stalls){0};
}

static size_t twin_send(void *context, const uint8_t *bytes, size_t size)
{
    append(&((struct twin *)context)->test->twin, bytes, size);
    return size;
}

static size_t twin_receive(void *context, uint8_t *bytes, size_t capacity)
{
    struct twin *twin = context;
    size_t size = twin->limit - twin->received;
    size = size < capacity ? size : capacity;
    memcpy(bytes, twin->test->commands.data + twin->received, size);
    twin->received += size;
    return size;
}

static void steps(struct twin *twin, size_t limit)
{
    twin->limit = limit;
    while (board_step(&twin->board))
        ;
}

static void run_twin(struct test *test, const struct wire_identity *identity)
{
    struct twin *twin = calloc(1, sizeof *twin);
    if (!twin)
        fail("no memory");
    const struct bus_front bus = {.take = twin_take,
                                  .now = twin_now,
                                  .microseconds = twin_microseconds,
                                  .ended = twin_ended,
                                  .stall = twin_stall,
                                  .stalls = twin_stalls,
                                  .context = twin};
    const struct board_link link = {.send = twin_send, .receive = twin_receive, .context = twin};
    twin->test = test;
    board_init(&twin->board, identity, &bus, &link, twin->frames, FRAMES);
    steps(twin, test->before_session);
    steps(twin, test->before_stop);
    steps(twin, test->commands.size);
    free(twin);
}

/* --- comparing ------------------------------------------------------------------------------- */

static struct wire_frame frame_at(const struct bytes *bytes, size_t at)
{
    struct wire_frame frame;
    if (bytes->size - at < WIRE_FRAME_HEADER + WIRE_FRAME_TRAILER ||
        wire_frame_get_header(&frame, bytes->data + at) < 0 ||
        bytes->size - at < WIRE_FRAME_HEADER + frame.payload_bytes + WIRE_FRAME_TRAILER)
        fail("no frame where one should start");
    frame.payload = bytes->data + at + WIRE_FRAME_HEADER;
    if (bytes_get32(frame.payload + frame.payload_bytes) !=
        crc32c(0, frame.payload, frame.payload_bytes))
        fail("a payload's checksum is wrong");
    return frame;
}

static size_t frame_size(const struct wire_frame *frame)
{
    return WIRE_FRAME_HEADER + frame->payload_bytes + WIRE_FRAME_TRAILER;
}

static bool is_records(const struct wire_frame *frame)
{
    return frame->kind == WIRE_RECORDS || frame->kind == WIRE_PACKED;
}

/* The tick of a phase in the session: the gateware's time begins with the entry before ARM. */
static void set_ticks(struct test *test)
{
    struct record record;
    size_t at = 0, first = 0;
    struct wire_frame frame = {.kind = 0};
    while (at < test->gateware.size && !is_records(&frame)) {
        frame = frame_at(&test->gateware, at);
        at += frame_size(&frame);
    }
    while (is_records(&frame) && first < test->options.requests &&
           !(p6_decode(&test->phases[first], &record) == P6_RECORD &&
             filter_match(&test->configuration.filter, &record)))
        first++;
    if (!is_records(&frame) || first == test->options.requests)
        return;
    uint64_t base = test->phases[first].tick - frame.first_tick;
    for (uint64_t i = 0; i < test->options.requests; i++)
        test->phases[i].tick -= base;
}

static bool has_counters(const struct wire_frame *frame)
{
    if (frame->kind == WIRE_HEARTBEAT || frame->kind == WIRE_END)
        return true;
    return frame->kind == WIRE_REPLY && frame->payload[4] == WIRE_STATUS &&
           frame->payload_bytes > WIRE_REPLY_HEADER;
}

/* Copies the gateware's time and queue into the twin's frame, and how long it stalled the bus. */
static void adopt(uint8_t *twin, const uint8_t *gateware, const struct wire_frame *frame,
                  bool stall)
{
    size_t counters = frame->kind == WIRE_REPLY ? WIRE_REPLY_HEADER : 0;
    uint8_t *payload = twin + WIRE_FRAME_HEADER + counters;
    const uint8_t *other = gateware + WIRE_FRAME_HEADER + counters;
    memcpy(twin + 16, gateware + 16, 8);
    if (has_counters(frame)) {
        if (bytes_get32(other + 64) > FRAMES || bytes_get32(other + 68) > FRAMES)
            fail("the queue holds more frames than it can");
        memcpy(payload, other, 8);
        memcpy(payload + 64, other + 64, 8);
        if (stall)
            memcpy(payload + 80, other + 80, 16);
    }
    bytes_put32(twin + 60, crc32c(0, twin, 60));
    bytes_put32(twin + WIRE_FRAME_HEADER + frame->payload_bytes,
                crc32c(0, twin + WIRE_FRAME_HEADER, frame->payload_bytes));
}

/* Prints the first bytes that differ. */
static void show(const struct bytes *twin, const struct bytes *gateware, size_t at, size_t size)
{
    size_t first = 0;
    while (first < size && twin->data[at + first] == gateware->data[at + first])
        first++;
    printf("from byte %zu, the C code and the gateware:", first);
    for (size_t i = first; i < size && i < first + 16; i++)
        printf(" %02x:%02x", twin->data[at + i], gateware->data[at + i]);
    printf("\n");
}

static void compare(struct test *test)
{
    size_t at = 0, frames = 0;
    uint64_t tick = 0, stalled = 0;
    while (at < test->twin.size) {
        struct wire_frame twin = frame_at(&test->twin, at), frame = frame_at(&test->gateware, at);
        if (!is_records(&twin) && frame_size(&twin) == frame_size(&frame))
            adopt(test->twin.data + at, test->gateware.data + at, &twin, test->options.stall);
        if (memcmp(test->twin.data + at, test->gateware.data + at, frame_size(&twin)) != 0) {
            show(&test->twin, &test->gateware, at, frame_size(&twin));
            printf("cosimulate: frame %zu, of kind %u, is not that of the C code\n", frames,
                   twin.kind);
            exit(1);
        }
        if (frame.session && frame.first_tick < tick)
            fail("time goes backwards");
        tick = frame.session ? frame.first_tick : 0;
        stalled += frame.kind == WIRE_END ? bytes_get64(frame.payload + 80) : 0;
        at += frame_size(&twin);
        frames++;
    }
    if (at != test->gateware.size)
        fail("the gateware sent more than the C code");
    if (test->options.stall && stalled == 0)
        fail("the bus was never stalled: the test does not test");
    printf("%zu frames, %zu bytes, equal\n", frames, at);
}

/* --- losses ---------------------------------------------------------------------------------- */

struct accepted {
    struct record record;
    uint64_t tick;
};

static size_t list_accepted(const struct test *test, struct accepted *list)
{
    size_t count = 0;
    for (uint64_t i = 0; i < test->options.requests; i++) {
        struct record record;
        if (p6_decode(&test->phases[i], &record) == P6_RECORD &&
            filter_match(&test->configuration.filter, &record))
            list[count++] = (struct accepted){record, test->phases[i].tick};
    }
    return count;
}

static void check_loss(const struct wire_frame *frame, uint64_t expected,
                       const struct accepted *list, bool exact)
{
    if (frame->first_index - expected != frame->lost)
        fail("a frame's index and its losses disagree");
    if (!frame->lost)
        return;
    uint64_t first = list[expected].tick, last = list[frame->first_index - 1].tick;
    if (frame->lost_first_tick > first || frame->lost_last_tick < last ||
        (exact && (frame->lost_first_tick != first || frame->lost_last_tick != last)))
        fail("the interval of a loss is wrong");
}

static void check_records(const struct wire_frame *frame, const struct accepted *list)
{
    static struct record records[WIRE_FRAME_RECORDS_MAX];
    uint64_t tick = frame->first_tick;
    if (frame->kind == WIRE_PACKED &&
        packing_get_all(records, frame->count, frame->payload, frame->payload_bytes) < 0)
        fail("a packed frame cannot be read");
    for (unsigned i = 0; i < frame->count; i++) {
        struct record record =
            frame->kind == WIRE_PACKED ? records[i] : record_get(frame->payload + RECORD_BYTES * i);
        const struct accepted *is = &list[frame->first_index + i];
        tick += i > 0 ? record.time : 0;
        record.time = is->record.time;
        if (tick != is->tick || memcmp(&record, &is->record, sizeof record) != 0)
            fail("a record is not the request that its index says");
    }
}

static void check_losses(const struct test *test)
{
    struct accepted *list = calloc(test->options.requests + 1, sizeof *list);
    struct wire_counters counters = {.seen = 0};
    uint64_t expected = 0, lost = 0, delivered = 0;
    if (!list)
        fail("no memory");
    size_t count = list_accepted(test, list);
    for (size_t at = 0; at < test->gateware.size;) {
        struct wire_frame frame = frame_at(&test->gateware, at);
        if (is_records(&frame) || frame.kind == WIRE_END) {
            check_loss(&frame, expected, list, !test->options.missed);
            check_records(&frame, list);
            lost += frame.lost;
            delivered += frame.count;
            expected = frame.first_index + frame.count;
        }
        if (frame.kind == WIRE_END)
            wire_counters_get(&counters, frame.payload, frame.payload_bytes);
        at += frame_size(&frame);
    }
    if (counters.seen != test->options.requests || counters.accepted != count ||
        delivered + lost != count || counters.lost != lost)
        fail("END's counters are wrong");
    if (lost == 0)
        fail("nothing was lost: the test does not test");
    printf("%" PRIu64 " records, %" PRIu64 " lost, all as their indices say\n", delivered, lost);
    free(list);
}

/* --- options --------------------------------------------------------------------------------- */

static bool set(struct options *options, const char *argument)
{
    const struct {
        const char *name;
        uint64_t *value;
    } names[] = {
        {"seed", &options->seed},     {"requests", &options->requests}, {"gap", &options->gap},
        {"packed", &options->packed}, {"filter", &options->filter},     {"loss", &options->loss},
        {"missed", &options->missed}, {"stall", &options->stall},       {"bus", &options->bus},
        {"core", &options->core},     {"link", &options->link},         {"pause", &options->pause}};
    const char *value = strchr(argument, '=');
    if (value && strncmp(argument, "vcd=", 4) == 0) {
        options->vcd = value + 1;
        return true;
    }
    for (size_t i = 0; value && i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == (size_t)(value - argument) &&
            strncmp(argument, names[i].name, (size_t)(value - argument)) == 0) {
            *names[i].value = strtoull(value + 1, NULL, 10);
            return true;
        }
    return false;
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
    const struct gateware_settings settings = {.bus_hz = options->bus,
                                               .core_hz = options->core,
                                               .link_hz = options->link,
                                               .seed = options->seed,
                                               .vcd = options->vcd};
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
    run_gateware(&test);

    struct wire_identity identity;
    struct wire_frame first = frame_at(&test.gateware, 0);
    if (wire_identity_get(&identity, first.payload + WIRE_REPLY_HEADER,
                          first.payload_bytes - WIRE_REPLY_HEADER) < 0)
        fail("no identity");
    for (uint64_t i = 0; i < options->requests; i++)
        p6_pins_offset(&test.phases[i]);
    set_ticks(&test);
    if (options->loss) {
        check_losses(&test);
    } else {
        run_twin(&test, &identity);
        compare(&test);
    }
    gateware_board_free(test.board);
    free(test.phases);
    free(test.commands.data);
    free(test.gateware.data);
    free(test.twin.data);
    return 0;
}
