/*
 * The FT232H's side of the synchronous FIFO, at the pins: takes and offers bytes at its clock's
 * rising edges, pauses at random, and checks the board (both drive the data pins, RD# without OE#,
 * a byte offered without data).
 */
#ifndef FIRMWARE_GATEWARE_SIM_FT245_CHIP_H
#define FIRMWARE_GATEWARE_SIM_FT245_CHIP_H

#include "firmware/gateware/sim/gateware_pins.h"

#include <stddef.h>

#define FT245_BYTES 4096u /* of each direction */

struct ft245_chip {
    uint64_t random;      /* state of the pauses; not 0 */
    uint32_t write_share; /* of 2^32: clocks in which TXE# is low while there is room */
    uint32_t read_share;  /* the same of RXF#, while there are bytes */
    const char *fault;    /* what the board did wrong, or NULL */
    uint8_t to_host[FT245_BYTES], from_host[FT245_BYTES];
    size_t to_head, to_count; /* rings */
    size_t from_head, from_count;
    uint64_t flushes; /* SIWU# pulses */
};

/* A chip that never pauses. */
void ft245_chip_init(struct ft245_chip *chip, uint64_t seed);

/* The rising edge: transfers what the pins' levels before it say. Call before the board sees it. */
void ft245_chip_edge(struct ft245_chip *chip, const struct gateware_pins *pins);

/* Sets the chip's outputs for the next edge. Call after the board has seen this one. */
void ft245_chip_drive(struct ft245_chip *chip, struct gateware_pins *pins);

/* The USB side. Both return the number of bytes that were taken or put. */
size_t ft245_chip_take(struct ft245_chip *chip, uint8_t *bytes, size_t capacity);
size_t ft245_chip_put(struct ft245_chip *chip, const uint8_t *bytes, size_t size);

#endif
