/*
 * A simulated FT232H in synchronous FIFO mode: transfers bytes at the rising edges of its clock,
 * pauses at random, and checks what the board does with the pins: that only one of them drives the
 * data pins, that the board drives them while WR# is low, and that OE# is low with RD#.
 */
#ifndef FIRMWARE_GATEWARE_SIM_FT245_CHIP_H
#define FIRMWARE_GATEWARE_SIM_FT245_CHIP_H

#include "firmware/gateware/sim/gateware_pins.h"

#include <stddef.h>

#define FT245_BYTES 4096u /* of each direction */

struct ft245_chip {
    uint64_t random;      /* state of the generator of pauses; not 0 */
    uint32_t write_share; /* share of clocks, of 2^32, in which TXE# is low while there is room */
    uint32_t read_share;  /* the same of RXF#, while there are bytes */
    const char *fault;    /* what the board did wrong, or NULL */
    uint8_t to_host[FT245_BYTES], from_host[FT245_BYTES];
    size_t to_head, to_count; /* rings */
    size_t from_head, from_count;
    uint64_t flushes; /* SIWU# pulses */
};

/* A chip that never pauses. */
void ft245_chip_init(struct ft245_chip *chip, uint64_t seed);

/* A rising edge of the clock: transfers bytes by the pins' levels before it. Call it before the
 * board gets the edge. */
void ft245_chip_edge(struct ft245_chip *chip, const struct gateware_pins *pins);

/* Sets the chip's outputs for the next edge. Call it after the board got this one. */
void ft245_chip_drive(struct ft245_chip *chip, struct gateware_pins *pins);

/* The USB side: take reads what the board has sent, put queues bytes for it. Both return the number
 * of bytes, which may be fewer than asked for. */
size_t ft245_chip_take(struct ft245_chip *chip, uint8_t *bytes, size_t capacity);
size_t ft245_chip_put(struct ft245_chip *chip, const uint8_t *bytes, size_t size);

#endif
