/* The simulated board with its three clocks, a P6 bus and an FT232H. */
#ifndef FIRMWARE_GATEWARE_SIM_GATEWARE_BOARD_H
#define FIRMWARE_GATEWARE_SIM_GATEWARE_BOARD_H

#include "firmware/bus.h"
#include "firmware/gateware/sim/ft245_chip.h"
#include "firmware/gateware/sim/p6_pins.h"

#include <stdio.h>

struct gateware_settings {
    uint64_t bus_hz, core_hz, link_hz; /* 0: the clock is stopped */
    uint64_t seed;                     /* of the clocks' phases and the link's pauses; not 0 */
    int vcd;                           /* receives all signals; the board closes it; or 0 */
    FILE *pins; /* receives the pins after each change, or NULL; the identity then has a clock of
                   0 Hz, as the chip's */
};

#define GATEWARE_SETTLE_NS 200000u /* time in which a request gets into a frame, or is counted */

struct gateware_board;

/* A board after power-up, or NULL (no memory). Free with gateware_board_free. */
struct gateware_board *gateware_board_new(const struct gateware_settings *settings);

/* 0, or the errno of the first failure to write or close the settings' vcd. NULL is allowed. */
int gateware_board_free(struct gateware_board *board);

/* Changes the clocks' frequencies from now on; 0 stops a clock. */
void gateware_board_clocks(struct gateware_board *board, uint64_t bus_hz, uint64_t core_hz,
                           uint64_t link_hz);

/* Runs the simulation for a time, and puts phases on the bus in order: each at its tick, a number
 * of a rising edge of the bus's clock, or as soon after it as the bus allows; then it gets the
 * actual tick. Returns the number of phases put. */
size_t gateware_board_run(struct gateware_board *board, uint64_t nanoseconds,
                          struct bus_phase *phases, size_t count);

/* Whether a host has armed the board, as its light shows. */
bool gateware_board_armed(const struct gateware_board *board);

/* The bus's clock: rising edges so far. */
uint64_t gateware_board_tick(const struct gateware_board *board);

/* Counts so many rising edges without simulating them, or fewer (gateware_skip). The bus must have
 * been quiet for GATEWARE_SETTLE_NS. No real time passes. Returns the number of edges. */
uint64_t gateware_board_skip(struct gateware_board *board, uint64_t clocks);

/* Rising edges so far at which the bus's agents could not begin a request, because of BNR#. */
uint64_t gateware_board_stalled(const struct gateware_board *board);

/* Gives the board STOP, as a host would whose bus has ended. */
void gateware_board_stop(struct gateware_board *board);

/* The chip, for its bytes, pauses and the fault that it found. */
struct ft245_chip *gateware_board_chip(struct gateware_board *board);

#endif
