/*
 * The P6 front-side bus: decodes request phases to records, and encodes records (Pentium Pro Family
 * Developer's Manual, volume 1; the encodings are in doc/p6-decoding.md).
 */
#ifndef FIRMWARE_P6_H
#define FIRMWARE_P6_H

#include "firmware/bus.h"
#include "formats/record/record.h"

enum p6_result {
    P6_RECORD,     /* decoded */
    P6_ABOVE_4GIB, /* a request whose address needs more than 32 bits */
    P6_UNDECODED   /* reserved, NOP, or unknown: never recorded as something else */
};

/* Decodes one request phase. Fills all of *record but the time. */
enum p6_result p6_decode(const struct bus_phase *phase, struct record *record);

/*
 * Finds the request phase that p6_decode decodes to exactly this record; the record's time is
 * ignored and the phase's tick left unchanged. Returns NULL, or a static sentence that says why no
 * P6 request is such a record.
 */
const char *p6_encode(const struct record *record, struct bus_phase *phase);

#endif
