#include "firmware/gateware/sim/p6_pins.h"

#include "firmware/p6.h"
#include "firmware/virtual/random.h"

#define ADDRESS_PINS UINT64_C(0x1ffffffff) /* A35# to A3# */
#define REQUEST_PINS 0x1fu

void p6_pins_init(struct p6_pins *p6, struct gateware_pins *pins, uint64_t seed)
{
    *p6 = (struct p6_pins){.random = seed, .clocks = P6_CLOCKS};
    pins->reset_n = pins->ads_n = 1;
    pins->a_n = ADDRESS_PINS;
    pins->req_n = REQUEST_PINS;
}

static void put(struct gateware_pins *pins, uint64_t address, unsigned request)
{
    pins->a_n = ~(address >> 3) & ADDRESS_PINS;
    pins->req_n = ~request & REQUEST_PINS;
}

bool p6_pins_clock(struct p6_pins *p6, struct gateware_pins *pins, const struct bus_phase *phase)
{
    bool stalled = p6->stalled;
    if (p6->sample > 0 && --p6->sample == 0) {
        stalled = !pins->bnr_n;
        p6->sample = stalled ? 2 : 0;
    }
    bool first = phase && p6->clocks + 1 >= P6_CLOCKS && !p6->stalled_before;
    bool second = p6->clocks == 0;
    p6->stalled_before = p6->stalled;
    p6->stalled = stalled;
    pins->ads_n = !first;
    p6->clocks = first ? 0 : p6->clocks < P6_CLOCKS ? p6->clocks + 1 : P6_CLOCKS;
    if (first) {
        p6->phase = *phase;
        p6->sample = 2;
        put(pins, phase->address_a, phase->request_a);
    } else if (second) {
        put(pins, p6->phase.address_b, p6->phase.request_b);
    } else {
        uint64_t random = virtual_random(&p6->random);
        put(pins, random, (unsigned)(random >> 48));
    }
    return first;
}

void p6_pins_offset(struct bus_phase *phase)
{
    phase->address_a = (phase->address_a & ~UINT64_C(7)) | p6_first_byte(phase);
}
