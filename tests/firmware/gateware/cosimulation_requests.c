#include "tests/firmware/gateware/cosimulation.h"

#include "firmware/virtual/random.h"
#include "firmware/virtual/virtual_bus.h"

#include <stdio.h>

#define GAP_MAX   100000u /* clocks that pass instead of more: time-only entries are among them */
#define WRAP_NEAR 30000u  /* clocks */

/* Any encoding of a request; half of them near the one before, as on a real bus, or near the first
 * ones. */
static void choose_random(struct test *test)
{
    uint64_t tick = FIRST_TICK;
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

/* The requests of a workload or of a trace, at its own ticks. */
static void take_phases(struct test *test)
{
    const struct options *options = &test->options;
    struct virtual_bus_settings settings = {.loop = true,
                                            .processors = (uint32_t)options->smp,
                                            .seed = options->seed,
                                            .clock_hz = options->bus};
    struct bt_error error;
    if (options->replay)
        snprintf(settings.replay, sizeof settings.replay, "%s", options->replay);
    struct virtual_bus *bus = virtual_bus_new(&settings, &error);
    if (!bus) {
        fail(error.message);
        return;
    }
    struct bus_front front = virtual_bus_front(bus, NULL);
    size_t count = 0, more = 1;
    while (more > 0 && count < options->requests) {
        more = front.take(front.context, test->phases + count, (size_t)options->requests - count);
        count += more;
    }
    if (virtual_bus_failure(bus, &error) < 0)
        fail(error.message);
    virtual_bus_free(bus);
    uint64_t before = 0, tick = FIRST_TICK;
    for (size_t i = 0; i < count; i++) {
        uint64_t gap = test->phases[i].tick - before;
        before = test->phases[i].tick;
        tick += gap < GAP_MAX ? gap : GAP_MAX;
        test->phases[i].tick = tick;
    }
}

/* The tick of the first request after a long gap. */
static uint64_t choose_late(struct test *test, uint64_t before)
{
    const uint64_t wrap = (before | UINT32_MAX) + 1;
    switch (below(test, 4)) {
    case 0: /* the low half of the tick wraps among requests, */
        return wrap - below(test, WRAP_NEAR);
    case 1: /* or between two; */
        return wrap + below(test, WRAP_NEAR);
    case 2: /* the record's time saturates, or nearly so */
        return before + UINT32_MAX - 2 + below(test, 5);
    default:
        return before + UINT32_MAX + (virtual_random(&test->random) & UINT64_C(0x3ffffffff));
    }
}

/* Makes some gaps, evenly among the requests, long. */
static void choose_wraps(struct test *test)
{
    const uint64_t part = test->options.requests / (test->options.wraps + 1);
    uint64_t shift = 0;
    for (uint64_t i = 1; i < test->options.requests; i++) {
        struct bus_phase *phase = &test->phases[i];
        phase->tick += shift;
        if (part == 0 || i % part != 0)
            continue;
        uint64_t late = choose_late(test, phase[-1].tick);
        if (late > phase->tick) {
            shift += late - phase->tick;
            phase->tick = late;
        }
    }
}

void choose_phases(struct test *test)
{
    if (test->options.smp || test->options.replay)
        take_phases(test);
    else
        choose_random(test);
    if (test->options.wraps)
        choose_wraps(test);
}
