#include "driver/ftdi_packets.h"

#include <string.h>

#define EEPROM_BLANK     0xffffu
#define EEPROM_MODE_FIFO 1u

size_t ftdi_packets_strip(uint8_t *out, size_t capacity, const uint8_t *transfer,
                          size_t transfer_bytes, size_t packet_bytes, size_t *position)
{
    size_t copied = 0;
    while (*position < transfer_bytes) {
        size_t within = *position % packet_bytes;
        size_t packet = *position - within;
        size_t left = transfer_bytes - packet;
        size_t end = packet + (left < packet_bytes ? left : packet_bytes);
        if (within < FTDI_STATUS_BYTES)
            *position = packet + FTDI_STATUS_BYTES;
        if (*position >= end) {
            *position = end;
            continue;
        }
        size_t size = end - *position;
        if (size > capacity - copied)
            size = capacity - copied;
        memcpy(out + copied, transfer + *position, size);
        copied += size;
        *position += size;
        if (copied == capacity)
            break;
    }
    return copied;
}

bool ftdi_packets_fifo_mode(uint16_t eeprom_word, bool two_channels, char channel)
{
    if (eeprom_word == EEPROM_BLANK)
        return false;
    unsigned mode = channel == 'B' ? eeprom_word >> 8 : eeprom_word;
    return (mode & (two_channels ? 0x07u : 0x0fu)) == EEPROM_MODE_FIFO;
}
