/*
 * An FT232H or FT2232H as its USB host and its board see it: descriptors, EEPROM, vendor requests,
 * bulk packets with their two status bytes, latency timer, and small FIFOs that fill up when the
 * host does not read. The caller supplies the time, in ns.
 */
#ifndef TESTS_LAB_FTDI_CHIP_H
#define TESTS_LAB_FTDI_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ftdi_chip_type { FTDI_CHIP_FT232H, FTDI_CHIP_FT2232H };

/* The mode of the channels in the EEPROM's first word. */
enum ftdi_chip_eeprom { FTDI_CHIP_FIFO, FTDI_CHIP_UART, FTDI_CHIP_BLANK };

struct ftdi_chip_settings {
    enum ftdi_chip_type type;
    enum ftdi_chip_eeprom eeprom;
    bool full_speed; /* plugged into a 12 Mbit/s port */
    char serial[32];
};

struct ftdi_chip;

/* NULL if memory is insufficient. */
struct ftdi_chip *ftdi_chip_new(const struct ftdi_chip_settings *settings);
void ftdi_chip_free(struct ftdi_chip *chip);

const struct ftdi_chip_settings *ftdi_chip_settings(const struct ftdi_chip *chip);

/* Bytes of a whole bulk packet: 512, or 64 at full speed. */
size_t ftdi_chip_packet_bytes(const struct ftdi_chip *chip);

/* Power on: resets modes and FIFOs, and applies the new settings. */
void ftdi_chip_power_on(struct ftdi_chip *chip, const struct ftdi_chip_settings *settings);

/* --- the host's side --- */

struct ftdi_chip_request {
    uint8_t type, request;
    uint16_t value, index, length;
};

/*
 * A control transfer without data to the chip. Fills data (room for 512 bytes) with the answer.
 * Returns its size, at most request->length; -1 for a stall.
 */
int ftdi_chip_control(struct ftdi_chip *chip, const struct ftdi_chip_request *request,
                      uint8_t data[512]);

/*
 * Reads the next packet of an IN endpoint into packet (room for ftdi_chip_packet_bytes). Returns
 * its size: a whole packet, or less if the latency timer expired; 0 while the chip has none.
 */
size_t ftdi_chip_in(struct ftdi_chip *chip, uint8_t endpoint, uint8_t *packet, int64_t now_ns);

/* Sends bytes to an OUT endpoint. Returns how many its FIFO accepted. */
size_t ftdi_chip_out(struct ftdi_chip *chip, uint8_t endpoint, const uint8_t *bytes, size_t size);

/* When the latency timer of an IN endpoint expires. */
int64_t ftdi_chip_due_ns(const struct ftdi_chip *chip, uint8_t endpoint);

/* --- the board's side: channel A --- */

/* Puts bytes into the FIFO to the host; returns how many fitted. The board cannot access the FIFO
 * before the host has switched to synchronous mode. */
size_t ftdi_chip_put(struct ftdi_chip *chip, const uint8_t *bytes, size_t size);

/* Takes bytes that the host sent. */
size_t ftdi_chip_get(struct ftdi_chip *chip, uint8_t *bytes, size_t capacity);

/* How often the host has switched to synchronous mode since power on. */
unsigned ftdi_chip_opened(const struct ftdi_chip *chip);

/* The latency timer that the host set, in ms. */
unsigned ftdi_chip_latency(const struct ftdi_chip *chip);

#endif
