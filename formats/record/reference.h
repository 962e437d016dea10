/*
 * The kind of a record in a cache study: an instruction fetch, a read, a write, or none.
 * Freestanding.
 */
#ifndef FORMATS_RECORD_REFERENCE_H
#define FORMATS_RECORD_REFERENCE_H

#include "formats/record/record.h"

enum reference_kind {
    REFERENCE_FETCH, /* FETCH */
    REFERENCE_READ,  /* MEMREAD and MEMREADINV */
    REFERENCE_WRITE, /* MEMWRITE */
    REFERENCE_KINDS,
    REFERENCE_NONE = REFERENCE_KINDS /* I/O, replies, special cycles, unknown types: dropped */
};

/* The kind of reference that a record of this request type is (byutr.h). */
static inline enum reference_kind reference_kind_of(uint8_t type)
{
    switch (type) {
    case REQUEST_FETCH:
        return REFERENCE_FETCH;
    case REQUEST_MEMREAD:
    case REQUEST_MEMREADINV:
        return REFERENCE_READ;
    case REQUEST_MEMWRITE:
        return REFERENCE_WRITE;
    default:
        return REFERENCE_NONE;
    }
}

/* Number of bytes that a reference touches: its size, or 1 if the size is 0. */
static inline uint32_t reference_bytes(const struct record *record)
{
    return record->size ? record->size : 1;
}

/* The sum of counts by kind. */
static inline uint64_t reference_kinds_sum(const uint64_t counts[REFERENCE_KINDS])
{
    uint64_t sum = 0;
    for (unsigned kind = 0; kind < REFERENCE_KINDS; kind++)
        sum += counts[kind];
    return sum;
}

/* "fetch", "read" or "write"; kind < REFERENCE_KINDS. */
static inline const char *reference_kind_name(enum reference_kind kind)
{
    static const char *const names[REFERENCE_KINDS] = {"fetch", "read", "write"};
    return names[kind];
}

#endif
