#include "tests/firmware/gateware/cosimulation.h"

#include "firmware/p6.h"
#include "formats/wire/packing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void check_heartbeat(const struct wire_frame *frame, uint64_t expected)
{
    struct wire_counters counters;
    if (wire_counters_get(&counters, frame->payload, frame->payload_bytes) < 0 ||
        frame->first_index != expected ||
        counters.seen !=
            counters.accepted + counters.filtered + counters.above_4gib + counters.undecoded)
        fail("a heartbeat's counters or its index are wrong");
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

void check_losses(const struct test *test)
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
        if (frame.kind == WIRE_HEARTBEAT)
            check_heartbeat(&frame, expected);
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
