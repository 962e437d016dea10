/* Request phases on the pins of a P6 bus: ADS#, the address and request pins, two clocks each. */
#ifndef FIRMWARE_GATEWARE_SIM_P6_PINS_H
#define FIRMWARE_GATEWARE_SIM_P6_PINS_H

#include "firmware/bus.h"
#include "firmware/gateware/sim/gateware_pins.h"

#define P6_CLOCKS 3u /* from one ADS# to the next, at least */

struct p6_pins {
    uint64_t random; /* state of the generator of levels between requests; not 0 */
    unsigned clocks; /* since the last ADS# */
    unsigned sample; /* clocks to the next sample of BNR#; 0: none before the next ADS# */
    bool stalled, stalled_before; /* by BNR#: at the last clock, and at the one before */
    struct bus_phase phase;       /* the last request */
};

/* An idle bus. */
void p6_pins_init(struct p6_pins *p6, struct gateware_pins *pins, uint64_t seed);

/*
 * Sets the levels that the next rising edge of the bus's clock samples; call it after each edge.
 * phase: the request to begin with that edge, or NULL. Returns whether it begins: not within
 * P6_CLOCKS of the last one, nor while BNR# stalls the bus. The translator of the board's inputs
 * has a register and that of BNR# has none, so the third clock after ADS#, in which the agents
 * sample BNR#, is the second one on these pins.
 */
bool p6_pins_clock(struct p6_pins *p6, struct gateware_pins *pins, const struct bus_phase *phase);

/* Sets Aa[2:0], which have no pins, to the offset of the first byte, as the board does
 * (doc/p6-decoding.md, "The low three address bits"). */
void p6_pins_offset(struct bus_phase *phase);

#endif
