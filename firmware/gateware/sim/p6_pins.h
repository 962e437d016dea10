/* Request phases on the pins of a P6 bus: ADS#, the address and request pins, two clocks each. */
#ifndef FIRMWARE_GATEWARE_SIM_P6_PINS_H
#define FIRMWARE_GATEWARE_SIM_P6_PINS_H

#include "firmware/bus.h"
#include "firmware/gateware/sim/gateware_pins.h"

#define P6_CLOCKS 3u /* from one ADS# to the next, at least */

struct p6_pins {
    uint64_t random; /* state of what is on the pins between requests; not 0 */
    unsigned clocks; /* since the last ADS# */
    unsigned sample; /* clocks to the next sample of BNR#; 0: none before the next ADS# */
    bool stalled, stalled_before; /* by BNR#; that is known a clock later */
    struct bus_phase phase;
};

/* An idle bus. */
void p6_pins_init(struct p6_pins *p6, struct gateware_pins *pins, uint64_t seed);

/*
 * Call after a rising edge of the bus's clock: sets the levels that the next edge samples. phase:
 * the request to begin with that edge, or NULL. Returns whether it begins; it does not less
 * than P6_CLOCKS after the last one, or while BNR# stalls the bus. The board sees the bus through a
 * translator with a register, and drives BNR# through one without: the third clock after ADS#, in
 * which the agents sample BNR#, is the second on these pins.
 */
bool p6_pins_clock(struct p6_pins *p6, struct gateware_pins *pins, const struct bus_phase *phase);

/* What the board makes of a phase on its pins: Aa[2:0] have none and become the offset of the first
 * byte (doc/p6-decoding.md, "The low three address bits"). */
void p6_pins_offset(struct bus_phase *phase);

#endif
