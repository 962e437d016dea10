/*
 * The CRC-32C of any range of bytes in time that does not grow with the range, once all bytes have
 * been passed: for a reader that must judge many ranges that overlap.
 */
#ifndef FORMATS_CAPTURE_CRC_TRAIL_H
#define FORMATS_CAPTURE_CRC_TRAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CRC_TRAIL_STEP      512u        /* bytes between two that are remembered */
#define CRC_TRAIL_RANGE_MAX (16u << 20) /* a longer range is not asked for */

struct crc_trail {
    uint64_t start;    /* offset in the file of the first CRC remembered */
    size_t count;      /* of those, each CRC_TRAIL_STEP behind the one before; 0: no trail */
    uint32_t *crcs;    /* from where the trail was begun */
    uint64_t examined; /* bytes passed so far */
};

void crc_trail_clear(struct crc_trail *trail);

/* Whether the trail knows the bytes behind offset, so that crc_trail_range need not begin anew. */
bool crc_trail_covers(const struct crc_trail *trail, uint64_t offset);

/*
 * The CRC of size bytes at bytes, which are at that offset of the file; no offset may be less than
 * one asked for before. False where there is no memory. *crc: as crc32c(0, bytes, size).
 */
bool crc_trail_range(struct crc_trail *trail, uint64_t offset, const uint8_t *bytes, size_t size,
                     uint32_t *crc);

#endif
