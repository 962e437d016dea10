/*
 * Computes the CRC-32C of any range of bytes in constant time after one pass over the bytes, for a
 * reader that must check many overlapping ranges.
 */
#ifndef FORMATS_CAPTURE_CRC_TRAIL_H
#define FORMATS_CAPTURE_CRC_TRAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CRC_TRAIL_STEP      512u        /* bytes between two stored CRCs */
#define CRC_TRAIL_RANGE_MAX (16u << 20) /* the longest range */

struct crc_trail {
    uint64_t start;    /* file offset of the first stored CRC */
    size_t count;      /* number of CRCs, CRC_TRAIL_STEP bytes apart; 0: no trail */
    uint32_t *crcs;    /* running CRCs from the start of the trail */
    uint64_t examined; /* number of bytes processed so far */
};

void crc_trail_clear(struct crc_trail *trail);

/* Whether the trail covers offset, so that crc_trail_range need not restart it. */
bool crc_trail_covers(const struct crc_trail *trail, uint64_t offset);

/*
 * The CRC of size bytes at bytes, which are at that offset of the file. An offset before that of
 * the last call may restart the trail. False: no memory. *crc: as crc32c(0, bytes, size).
 */
bool crc_trail_range(struct crc_trail *trail, uint64_t offset, const uint8_t *bytes, size_t size,
                     uint32_t *crc);

#endif
