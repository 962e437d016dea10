#include "tests/firmware/gateware/cosimulation_twin.h"

#include <string.h>

static size_t twin_take(void *context, struct bus_phase *phases, size_t capacity)
{
    struct twin *twin = context;
    size_t count = 0;
    if (!board_armed(&twin->board))
        return 0;
    while (count < capacity && twin->next_phase < twin->phase_limit) {
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
    return ((struct twin *)context)->microseconds;
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
    const struct twin *twin = context;
    if (twin->link_stops)
        return 0;
    append(&twin->test->twin, bytes, size);
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

void twin_init(struct twin *twin, struct test *test, const struct wire_identity *identity)
{
    *twin = (struct twin){.test = test, .phase_limit = test->options.requests};
    const struct bus_front bus = {.take = twin_take,
                                  .now = twin_now,
                                  .microseconds = twin_microseconds,
                                  .ended = twin_ended,
                                  .stall = twin_stall,
                                  .stalls = twin_stalls,
                                  .context = twin};
    const struct board_link link = {.send = twin_send, .receive = twin_receive, .context = twin};
    board_init(&twin->board, identity, &bus, &link, twin->frames, FRAMES);
}

static void steps(struct twin *twin, size_t limit)
{
    twin->limit = limit;
    while (board_step(&twin->board))
        ;
}

void run_twin(struct test *test, const struct wire_identity *identity)
{
    struct twin twin;
    twin_init(&twin, test, identity);
    for (size_t i = 0; i < test->ends.size; i += sizeof(size_t)) {
        size_t end;
        memcpy(&end, test->ends.data + i, sizeof end);
        steps(&twin, end);
    }
}

void keep_time(struct test *test, const struct wire_identity *identity)
{
    struct twin twin;
    twin_init(&twin, test, identity);
    for (size_t i = 0; i < test->moments.size; i += sizeof(struct moment)) {
        struct moment moment;
        memcpy(&moment, test->moments.data + i, sizeof moment);
        twin.microseconds = moment.nanoseconds / 1000;
        twin.phase_limit = moment.sent;
        twin.link_stops = moment.write_share == 0;
        steps(&twin, moment.given);
        moment.twin = test->twin.size;
        memcpy(test->moments.data + i, &moment, sizeof moment);
    }
}
