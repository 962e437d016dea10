/* What USB packets from an FTDI chip look like: two bytes of line status, then data. */
#ifndef DRIVER_FTDI_PACKETS_H
#define DRIVER_FTDI_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FTDI_STATUS_BYTES 2u

/*
 * Copies the data of a transfer, without the status bytes of each packet, to out, at most capacity
 * bytes. A transfer is packets of packet_bytes (> 2), the last one perhaps shorter. *position is
 * where to go on in the transfer: 0 to begin; transfer_bytes once all of it is taken, which may be
 * without any data. Returns the bytes copied.
 */
size_t ftdi_packets_strip(uint8_t *out, size_t capacity, const uint8_t *transfer,
                          size_t transfer_bytes, size_t packet_bytes, size_t *position);

/* Whether the EEPROM's first word sets the channel ('A' or 'B') to 245 FIFO. A blank EEPROM means
 * UART. two_channels: an FT2232H, whose channels have a byte each. */
bool ftdi_packets_fifo_mode(uint16_t eeprom_word, bool two_channels, char channel);

#endif
