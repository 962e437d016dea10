/* USB packets from an FTDI chip: two bytes of line status, then data. */
#ifndef DRIVER_FTDI_PACKETS_H
#define DRIVER_FTDI_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FTDI_STATUS_BYTES 2u

/*
 * Copies at most capacity bytes of a transfer's data to out, without the status bytes of each
 * packet. A transfer consists of packets of packet_bytes (> 2); the last may be shorter. *position
 * is the offset in the transfer: 0 at first, transfer_bytes at the end, which may be reached
 * without any data. Returns the number of bytes copied.
 */
size_t ftdi_packets_strip(uint8_t *out, size_t capacity, const uint8_t *transfer,
                          size_t transfer_bytes, size_t packet_bytes, size_t *position);

/* Whether the EEPROM's first word sets the channel ('A' or 'B') to 245 FIFO. A blank EEPROM means
 * UART. two_channels: an FT2232H, whose channels have a byte each. */
bool ftdi_packets_fifo_mode(uint16_t eeprom_word, bool two_channels, char channel);

#endif
