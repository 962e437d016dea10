#include "formats/record/record.h"

#include <string.h>

static const uint8_t types[REQUEST_TYPES] = {
    REQUEST_FETCH,        REQUEST_MEMREAD,    REQUEST_MEMREADINV, REQUEST_MEMWRITE,
    REQUEST_IOREAD,       REQUEST_IOWRITE,    REQUEST_DEFERREPLY, REQUEST_INTA,
    REQUEST_CNTRLAGNTRES, REQUEST_BRTRACEREC, REQUEST_SHUTDOWN,   REQUEST_FLUSH,
    REQUEST_HALT,         REQUEST_SYNC,       REQUEST_FLUSHACK,   REQUEST_STOPCLKACK,
    REQUEST_SMIACK};

static const char *const names[REQUEST_TYPES] = {
    "FETCH",      "MEMREAD", "MEMREADINV",   "MEMWRITE",   "IOREAD",   "IOWRITE",
    "DEFERREPLY", "INTA",    "CNTRLAGNTRES", "BRTRACEREC", "SHUTDOWN", "FLUSH",
    "HALT",       "SYNC",    "FLUSHACK",     "STOPCLKACK", "SMIACK"};

/* Ordinal plus one by type; every type is below 0x40. */
static const uint8_t ordinals[0x40] = {
    [0x00] = 1,  [0x01] = 2,  [0x02] = 3,  [0x03] = 4,  [0x10] = 5,  [0x11] = 6,
    [0x20] = 7,  [0x21] = 8,  [0x22] = 9,  [0x23] = 10, [0x31] = 11, [0x32] = 12,
    [0x33] = 13, [0x34] = 14, [0x35] = 15, [0x36] = 16, [0x37] = 17};

void records_get(struct record *records, const uint8_t *bytes, size_t count)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(records, bytes, count * RECORD_BYTES);
#else
    for (size_t i = 0; i < count; i++)
        records[i] = record_get(bytes + i * RECORD_BYTES);
#endif
}

void records_put(uint8_t *bytes, const struct record *records, size_t count)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(bytes, records, count * RECORD_BYTES);
#else
    for (size_t i = 0; i < count; i++)
        record_put(bytes + i * RECORD_BYTES, &records[i]);
#endif
}

int record_get_lp64(struct record *record, const uint8_t *bytes)
{
    uint64_t address = bytes_get64(bytes);
    uint64_t time = bytes_get64(bytes + 16);
    *record = (struct record){.address = (uint32_t)address,
                              .type = bytes[8],
                              .size = bytes[9],
                              .attribute = bytes[10],
                              .processor = bytes[11],
                              .time = (uint32_t)time};
    return address > UINT32_MAX || time > UINT32_MAX ? -1 : 0;
}

unsigned request_type_ordinal(uint8_t type)
{
    return type < sizeof ordinals && ordinals[type] ? ordinals[type] - 1u : REQUEST_TYPE_UNKNOWN;
}

uint8_t request_type_at(unsigned ordinal)
{
    return types[ordinal];
}

const char *request_type_name(uint8_t type)
{
    unsigned ordinal = request_type_ordinal(type);
    return ordinal < REQUEST_TYPES ? names[ordinal] : NULL;
}

uint64_t records_time(const struct record *records, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += records[i].time;
    return sum;
}

size_t records_until_saturated(const struct record *records, size_t count)
{
    size_t saturated = 0;
    for (size_t i = 1; i < count; i++)
        saturated += records[i].time == UINT32_MAX;
    if (saturated == 0)
        return count;
    size_t i = 1;
    while (records[i].time != UINT32_MAX)
        i++;
    return i;
}

size_t records_parts(const struct record *records, size_t count)
{
    size_t parts = 0;
    for (size_t i = 0; i < count; i++)
        parts += records[i].attribute / ATTRIBUTE_PART;
    return parts;
}

bool records_have_events(const struct record *records, size_t count)
{
    uint8_t attributes = 0;
    for (size_t i = 0; i < count; i++)
        attributes |= records[i].attribute;
    return attributes & ATTRIBUTE_EVENT;
}

size_t records_until_mark(const struct record *records, size_t count, uint8_t mask)
{
    size_t until = 1;
    while (until < count && !(records[until].attribute & mask))
        until++;
    return until;
}
