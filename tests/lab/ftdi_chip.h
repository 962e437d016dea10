/*
 * An FT232H or FT2232H as a USB host sees it, and as the board behind it does: descriptors, EEPROM,
 * vendor requests, bulk packets with their two status bytes, latency timer, and small FIFOs that
 * are full when nobody reads. Time is given by the caller, in ns.
 */
#ifndef TESTS_LAB_FTDI_CHIP_H
#define TESTS_LAB_FTDI_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ftdi_chip_type { FTDI_CHIP_FT232H, FTDI_CHIP_FT2232H };

/* What the EEPROM's first word says of the channels. */
enum ftdi_chip_eeprom { FTDI_CHIP_FIFO, FTDI_CHIP_UART, FTDI_CHIP_BLANK };

struct ftdi_chip_settings {
    enum ftdi_chip_type type;
    enum ftdi_chip_eeprom eeprom;
    bool full_speed; /* plugged into a 12 Mbit/s port */
    char serial[32];
};

struct ftdi_chip;

/* NULL if there is no memory. */
struct ftdi_chip *ftdi_chip_new(const struct ftdi_chip_settings *settings);
void ftdi_chip_free(struct ftdi_chip *chip);

const struct ftdi_chip_settings *ftdi_chip_settings(const struct ftdi_chip *chip);

/* Bytes of a whole bulk packet: 512, or 64 at full speed. */
size_t ftdi_chip_packet_bytes(const struct ftdi_chip *chip);

/* As after power was switched on: modes and FIFOs forgotten. New settings hold from here on. */
void ftdi_chip_power_on(struct ftdi_chip *chip, const struct ftdi_chip_settings *settings);

/* --- the host's side --- */

struct ftdi_chip_request {
    uint8_t type, request;
    uint16_t value, index, length;
};

/*
 * A control transfer without data to the chip. Fills data (room for 512 bytes) with the answer.
 * Returns its bytes, not more than request->length; -1 for a stall.
 */
int ftdi_chip_control(struct ftdi_chip *chip, const struct ftdi_chip_request *request,
                      uint8_t data[512]);

/*
 * The next packet of an IN endpoint, into packet (room for ftdi_chip_packet_bytes). Returns its
 * bytes: a whole packet, or less where the latency timer ran out; 0 while the chip has none.
 */
size_t ftdi_chip_in(struct ftdi_chip *chip, uint8_t endpoint, uint8_t *packet, int64_t now_ns);

/* Bytes for an OUT endpoint. Returns how many its FIFO took; 0: not now. */
size_t ftdi_chip_out(struct ftdi_chip *chip, uint8_t endpoint, const uint8_t *bytes, size_t size);

/* When the latency timer of an IN endpoint runs out. */
int64_t ftdi_chip_due_ns(const struct ftdi_chip *chip, uint8_t endpoint);

/* --- the board's side: channel A --- */

/* Puts bytes into the FIFO to the host; returns how many found room. The board cannot see the FIFO
 * before the host has switched to synchronous mode. */
size_t ftdi_chip_put(struct ftdi_chip *chip, const uint8_t *bytes, size_t size);

/* Takes what the host sent. */
size_t ftdi_chip_get(struct ftdi_chip *chip, uint8_t *bytes, size_t capacity);

/* How often the host has switched to synchronous mode since the power came. */
unsigned ftdi_chip_opened(const struct ftdi_chip *chip);

/* The latency timer, in ms, as the host set it. */
unsigned ftdi_chip_latency(const struct ftdi_chip *chip);

#endif
