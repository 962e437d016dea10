#include "formats/capture/crc_trail.h"

#include "formats/base/crc32c.h"

#include <stdlib.h>
#include <string.h>

/* CRCs for the longest range, and the same number before it, until they are moved. */
#define CRCS_MAX (2 * (CRC_TRAIL_RANGE_MAX / CRC_TRAIL_STEP + 2))

void crc_trail_clear(struct crc_trail *trail)
{
    free(trail->crcs);
    *trail = (struct crc_trail){.count = 0};
}

/* The offset of the last stored CRC. */
static uint64_t last_offset(const struct crc_trail *trail)
{
    return trail->start + (uint64_t)(trail->count - 1) * CRC_TRAIL_STEP;
}

bool crc_trail_covers(const struct crc_trail *trail, uint64_t offset)
{
    return trail->count > 0 && offset >= trail->start && offset <= last_offset(trail);
}

/* Drops CRCs before offset, when that frees half of the array. */
static void forget(struct crc_trail *trail, uint64_t offset)
{
    size_t past = (size_t)((offset - trail->start) / CRC_TRAIL_STEP);
    if (past < CRCS_MAX / 2)
        return;
    memmove(trail->crcs, trail->crcs + past, (trail->count - past) * sizeof *trail->crcs);
    trail->start += (uint64_t)past * CRC_TRAIL_STEP;
    trail->count -= past;
}

/* Processes the bytes up to end; bytes holds those from offset on. */
static void extend(struct crc_trail *trail, uint64_t offset, const uint8_t *bytes, uint64_t end)
{
    while (end - trail->start >= (uint64_t)trail->count * CRC_TRAIL_STEP) {
        const uint8_t *next = bytes + (last_offset(trail) - offset);
        trail->crcs[trail->count] = crc32c(trail->crcs[trail->count - 1], next, CRC_TRAIL_STEP);
        trail->count++;
        trail->examined += CRC_TRAIL_STEP;
    }
}

bool crc_trail_range(struct crc_trail *trail, uint64_t offset, const uint8_t *bytes, size_t size,
                     uint32_t *crc)
{
    if (!trail->crcs && !(trail->crcs = malloc(CRCS_MAX * sizeof *trail->crcs)))
        return false;
    if (!crc_trail_covers(trail, offset)) {
        trail->start = offset;
        trail->crcs[0] = 0;
        trail->count = 1;
    }
    forget(trail, offset);
    extend(trail, offset, bytes, offset + size);
    /* to the first stored CRC, and from the last one: each less than a step */
    size_t first = (size_t)((offset - trail->start + CRC_TRAIL_STEP - 1) / CRC_TRAIL_STEP);
    size_t last = (size_t)((offset + size - trail->start) / CRC_TRAIL_STEP);
    if (last <= first) {
        trail->examined += size;
        *crc = crc32c(0, bytes, size);
        return true;
    }
    size_t head = (size_t)(trail->start + (uint64_t)first * CRC_TRAIL_STEP - offset);
    size_t body = (last - first) * CRC_TRAIL_STEP;
    uint32_t passed = crc32c_shift(crc32c(0, bytes, head) ^ trail->crcs[first], body);
    *crc = crc32c(passed ^ trail->crcs[last], bytes + head + body, size - head - body);
    trail->examined += size - body;
    return true;
}
