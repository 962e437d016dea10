/*
 * The BYU address trace record, format v1.1: one bus request in 12 bytes, little endian.
 *
 *   0        4       5      6      7        8      12
 *   +--------+-------+------+------+--------+------+
 *   | address| type  | size | attr | proc   | time |
 *   +--------+-------+------+------+--------+------+
 *
 * Freestanding: the firmware uses it.
 */
#ifndef FORMATS_RECORD_RECORD_H
#define FORMATS_RECORD_RECORD_H

#include "formats/base/bytes.h"
#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_BYTES      12u /* on disk and on the wire */
#define RECORD_LP64_BYTES 24u /* written by programs whose `unsigned long` has 8 bytes */

/* Request Type Field (byutr.h). */
enum request_type {
    REQUEST_FETCH = 0x00,
    REQUEST_MEMREAD = 0x01,
    REQUEST_MEMREADINV = 0x02,
    REQUEST_MEMWRITE = 0x03,
    REQUEST_IOREAD = 0x10,
    REQUEST_IOWRITE = 0x11,
    REQUEST_DEFERREPLY = 0x20,
    REQUEST_INTA = 0x21,
    REQUEST_CNTRLAGNTRES = 0x22,
    REQUEST_BRTRACEREC = 0x23,
    REQUEST_SHUTDOWN = 0x31,
    REQUEST_FLUSH = 0x32,
    REQUEST_HALT = 0x33,
    REQUEST_SYNC = 0x34,
    REQUEST_FLUSHACK = 0x35,
    REQUEST_STOPCLKACK = 0x36,
    REQUEST_SMIACK = 0x37
};

#define REQUEST_TYPES        17u /* number of request types */
#define REQUEST_TYPE_UNKNOWN REQUEST_TYPES

/* Attribute Field: the low two bits; real traces also hold bit 2, so mask and never reject. */
enum attribute {
    ATTRIBUTE_UNCACHEABLE = 0,
    ATTRIBUTE_WRITE_THROUGH = 1,
    ATTRIBUTE_WRITE_PROTECT = 2,
    ATTRIBUTE_WRITE_BACK = 3
};
#define ATTRIBUTE_MASK 3u

/* Bit 2 is the bus's third bit: it separates write combining from uncacheable memory. */
#define ATTRIBUTE_BUS_MASK        7u
#define ATTRIBUTE_WRITE_COMBINING 4u

/* A mark in the attribute, valid if `parts` of struct batch says so: a chosen gap is before this
 * record. */
#define ATTRIBUTE_PART 0x80u

/* What happened to the processor before this record, in the attribute; valid if `events` of struct
 * batch says so. Records that are not fetches have no event. */
#define ATTRIBUTE_EVENT 0x70u
enum record_event {
    EVENT_NONE = 0x00,
    EVENT_SIGNAL = 0x10,        /* a signal: the record is the first of the handler */
    EVENT_SIGNAL_RETURN = 0x20, /* the handler returned */
    EVENT_THREAD = 0x30         /* the thread ended: this and later records are of another one */
};

/* A record in memory: native byte order, the same 12 bytes. */
struct NAMED_FIELDS record {
    uint32_t address;  /* physical address */
    uint8_t type;      /* enum request_type; a file may hold any octet */
    uint8_t size;      /* bytes transferred */
    uint8_t attribute; /* cacheability */
    uint8_t processor; /* agent id */
    uint32_t time;     /* ticks since the previous record; saturates at 0xffffffff */
};
_Static_assert(sizeof(struct record) == RECORD_BYTES, "a record in memory has 12 bytes");

#define RECORDS_AHEAD 256u

/*
 * Loads the record RECORDS_AHEAD after this one, which need not exist, into the processor's cache.
 * For loops over records that also do much else, which the processor's own prefetching does not
 * outlast.
 */
static inline void record_prefetch(const struct record *record)
{
    __builtin_prefetch((const void *)((uintptr_t)record + RECORDS_AHEAD * sizeof *record));
}

/* Reads one record from RECORD_BYTES bytes. */
static inline struct record record_get(const uint8_t *bytes)
{
    return (struct record){.address = bytes_get32(bytes),
                           .type = bytes[4],
                           .size = bytes[5],
                           .attribute = bytes[6],
                           .processor = bytes[7],
                           .time = bytes_get32(bytes + 8)};
}

/* Writes one record as RECORD_BYTES bytes. */
static inline void record_put(uint8_t *bytes, const struct record *record)
{
    bytes_put32(bytes, record->address);
    bytes[4] = record->type;
    bytes[5] = record->size;
    bytes[6] = record->attribute;
    bytes[7] = record->processor;
    bytes_put32(bytes + 8, record->time);
}

/* Reads count records from count * RECORD_BYTES bytes; a plain copy on little-endian hosts. */
void records_get(struct record *records, const uint8_t *bytes, size_t count);

/* Writes count records as count * RECORD_BYTES bytes; a plain copy on little-endian hosts. */
void records_put(uint8_t *bytes, const struct record *records, size_t count);

/*
 * Reads one record of RECORD_LP64_BYTES bytes: address and time are 8 bytes wide, the time is
 * aligned to 8. Returns 0, or -1 where a value does not fit 32 bits (*record then holds the low
 * bits).
 */
int record_get_lp64(struct record *record, const uint8_t *bytes);

/* The ordinal of a request type, 0 to REQUEST_TYPES - 1 in ascending order; REQUEST_TYPE_UNKNOWN
 * for others. */
unsigned request_type_ordinal(uint8_t type);

/* The request type with that ordinal; ordinal < REQUEST_TYPES. */
uint8_t request_type_at(unsigned ordinal);

/* byutr.h's name of a request type ("FETCH"), NULL for an unknown one. */
const char *request_type_name(uint8_t type);

/* Sum of the time fields of count records, in ticks. */
uint64_t records_time(const struct record *records, size_t count);

/* Number of leading records that may share a batch: those before the next saturated time. count >=
 * 1; returns 1 to count. */
size_t records_until_saturated(const struct record *records, size_t count);

/* Number of records with the mark ATTRIBUTE_PART. */
size_t records_parts(const struct record *records, size_t count);

/* Whether any record has an event. */
bool records_have_events(const struct record *records, size_t count);

/* Number of leading records before the next one with any of these bits in its attribute. count >=
 * 1; returns 1 to count. */
size_t records_until_mark(const struct record *records, size_t count, uint8_t mask);

#endif
