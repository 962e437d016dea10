/*
 * The board in logic in the firmware's place: simulated, with requests of lab_bus on its pins.
 *
 * Its time is the simulation's: it stops while the host does not take what the link offers, and a
 * bus with a rate has its requests at their own ticks, as fast as the simulation runs.
 */
#ifndef TESTS_LAB_LAB_GATEWARE_H
#define TESTS_LAB_LAB_GATEWARE_H

#include "firmware/link.h"
#include "tests/lab/lab_bus.h"

struct lab_gateware;

#define LAB_GATEWARE_LINK_BYTES 60e6

/* Time and ticks that the board runs at once. As much of a delay by a stall is made up for. */
#define LAB_GATEWARE_STEP_NS    20000u
#define LAB_GATEWARE_STEP_TICKS 1000u

/* A board after power-up on a bus and a link, which carries up to link_bytes a second of its time,
 * at most LAB_GATEWARE_LINK_BYTES. NULL: this model was built without verilator, or memory is
 * insufficient. */
struct lab_gateware *lab_gateware_new(struct lab_bus *bus, const struct board_link *link,
                                      double link_bytes);
void lab_gateware_free(struct lab_gateware *self);

/* Runs for a moment, with or without the link's clock. Returns whether there was anything to do. */
bool lab_gateware_step(struct lab_gateware *self, bool clocked);

/* Whether a host has armed the board. */
bool lab_gateware_armed(const struct lab_gateware *self);

/* Ticks in which the bus could not begin a request, as its agents saw it, in this session. */
uint64_t lab_gateware_stalled(const struct lab_gateware *self);

#endif
