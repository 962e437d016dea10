/* CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), as in iSCSI (RFC 3720, B.4). Freestanding.
 */
#ifndef FORMATS_BASE_CRC32C_H
#define FORMATS_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * The CRC of size bytes at data, continued from crc: 0, or an earlier result. Uses the processor's
 * instruction if it has one; otherwise tables of 4 KiB on a host, of 1 KiB on a board.
 */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

#if __STDC_HOSTED__
/* The same by tables, 4 bytes at a time: for hosts without the instruction. */
uint32_t crc32c_by_4(uint32_t crc, const void *data, size_t size);

/*
 * The CRC of data whose CRC is crc, followed by `size` bytes, without those bytes' own CRC: the CRC
 * of A and B together is crc32c_shift(crc of A, size of B) ^ crc of B.
 */
uint32_t crc32c_shift(uint32_t crc, uint64_t size);
#endif

/* The same by one table: for the board's processor, and as the reference of the tests. */
uint32_t crc32c_portable(uint32_t crc, const void *data, size_t size);

#endif
