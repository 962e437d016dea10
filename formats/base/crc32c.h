/* CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), as in iSCSI (RFC 3720, B.4). Freestanding.
 */
#ifndef FORMATS_BASE_CRC32C_H
#define FORMATS_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * The CRC of size bytes at data, continuing from crc: 0 to begin, or an earlier result to go on.
 * Uses the processor's instruction where the build allows it, else a table of 1 KiB.
 */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

/* The same by table alone: what the board's processor runs, and the twin the tests compare with. */
uint32_t crc32c_portable(uint32_t crc, const void *data, size_t size);

#endif
