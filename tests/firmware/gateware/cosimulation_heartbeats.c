#include "tests/firmware/gateware/cosimulation.h"

#include "firmware/board.h"
#include "formats/base/bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EARLY_NS 5000u /* most by which the gateware may precede the C code */
#define LONGEST  (WIRE_FRAME_HEADER + BOARD_PAYLOAD_MAX + WIRE_FRAME_TRAILER)

/* --- sessions --- */

/* Runs for so many quarters of the interval between heartbeats. */
static void run_quarters(struct test *test, uint64_t quarters)
{
    run(test, quarters * test->options.heartbeat * 250000);
}

static void configure(struct test *test, uint64_t heartbeat)
{
    test->configuration.heartbeat_ms = (uint32_t)heartbeat;
    put_configure(test);
    give(test);
}

static void give_code(struct test *test, uint8_t code)
{
    put_command(test, code, NULL, 0);
    give(test);
}

/* Stops the link for a time. Returns when it continues: the heartbeat in the queue is sent then,
 * and the next one at once, since it is overdue. */
static uint64_t stop_link(struct test *test, uint64_t quarters)
{
    struct ft245_chip *chip = gateware_board_chip(test->board);
    const uint32_t share = chip->write_share;
    chip->write_share = 0;
    run_quarters(test, quarters);
    chip->write_share = share;
    return test->now;
}

/* A session without requests, and a time after it, in which there are no heartbeats. */
static void run_quiet(struct test *test, uint32_t id, bool stops)
{
    uint8_t session[4];
    bytes_put32(session, id);
    put_command(test, WIRE_ARM, session, 4);
    give(test);
    run_quarters(test, 12);
    if (stops)
        stop_link(test, 9 + below(test, 10));
    run_quarters(test, 9);
    give_code(test, WIRE_STOP);
    run_quarters(test, 5 + below(test, 10));
}

/* A session with requests. The queue is full before the link continues. */
static void run_busy(struct test *test)
{
    arm(test);
    run_quarters(test, 1 + below(test, 8));
    give_code(test, WIRE_STATUS);
    run_quarters(test, 20);
    const uint64_t start = stop_link(test, 17);
    run_requests(test);
    settle(test);
    const uint64_t interval = test->options.heartbeat * 1000000;
    run(test, 3 * interval / 2 - (test->now - start) % interval);
    give_code(test, WIRE_STOP);
    run_quarters(test, 9);
}

void give_heartbeats(struct test *test)
{
    give_code(test, WIRE_IDENTIFY);
    configure(test, test->options.heartbeat);
    run_quiet(test, 1, false);
    run_quiet(test, 2, true);
    configure(test, 0);
    run_quiet(test, 3, false);
    configure(test, test->options.heartbeat);
    run_busy(test);
}

/* --- their times --- */

struct heartbeat {
    uint64_t nanoseconds;
    uint32_t session;
};

/* Lists the heartbeats in a board's bytes; offset: that of its bytes in struct moment. Returns
 * their number; the caller frees the list. */
static size_t list_heartbeats(struct heartbeat **heartbeats, const struct test *test,
                              const struct bytes *bytes, size_t offset)
{
    struct bytes all = {.data = NULL};
    size_t moment = 0;
    for (size_t at = 0; at < bytes->size;) {
        const struct wire_frame frame = frame_at(bytes, at);
        size_t come = 0;
        at += frame_size(&frame);
        for (; come < at; moment += sizeof(struct moment))
            memcpy(&come, test->moments.data + moment + offset, sizeof come);
        moment -= sizeof(struct moment); /* the next frame may have come in it, too */
        struct heartbeat heartbeat = {.session = frame.session};
        memcpy(&heartbeat.nanoseconds,
               test->moments.data + moment + offsetof(struct moment, nanoseconds),
               sizeof heartbeat.nanoseconds);
        if (frame.kind == WIRE_HEARTBEAT)
            append(&all, (const uint8_t *)&heartbeat, sizeof heartbeat);
    }
    *heartbeats = (struct heartbeat *)(void *)all.data;
    return all.size / sizeof(struct heartbeat);
}

/* The gateware may be later by the frames before a heartbeat in the queue, and by 2 us more with
 * each heartbeat: its microseconds do not begin with the interval. */
size_t compare_heartbeats(const struct test *test)
{
    struct heartbeat *gateware, *twin;
    const uint64_t queue = FRAMES * (UINT64_C(1000000000) * LONGEST / test->options.link);
    const size_t count =
        list_heartbeats(&gateware, test, &test->gateware, offsetof(struct moment, gateware));
    const size_t twins = list_heartbeats(&twin, test, &test->twin, offsetof(struct moment, twin));
    uint64_t allowed = 0;
    for (size_t i = 0; i < count && i < twins; i++) {
        allowed =
            i > 0 && twin[i].session == twin[i - 1].session ? allowed + 2000 : queue + EARLY_NS;
        uint64_t late = gateware[i].nanoseconds + EARLY_NS - twin[i].nanoseconds;
        if (gateware[i].session != twin[i].session || late > EARLY_NS + allowed) {
            printf("heartbeat %zu: session %" PRIx32 ", %" PRIu64
                   " ns; of the C code: session %" PRIx32 ", %" PRIu64 " ns\n",
                   i, gateware[i].session, gateware[i].nanoseconds, twin[i].session,
                   twin[i].nanoseconds);
            fail("a heartbeat is not in time");
        }
    }
    if (count != twins)
        fail("the gateware and the C code differ in the number of heartbeats");
    free(gateware);
    free(twin);
    return count;
}
