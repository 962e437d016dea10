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
    P6_UNDECODED   /* reserved, NOP, or unknown: never recorded as another type */
};

/* Decodes one request phase. Fills all of *record except the time. */
enum p6_result p6_decode(const struct bus_phase *phase, struct record *record);

/*
 * The offset of the first requested byte in the aligned 8 bytes: Aa[2:0] of the phase, which have
 * no pins. 0 unless the byte enables say which bytes.
 */
unsigned p6_first_byte(const struct bus_phase *phase);

/*
 * Finds the request phase that p6_decode decodes to exactly this record; ignores the record's time
 * and keeps the phase's tick. Returns NULL, or a static sentence that explains why the record is
 * not a P6 request.
 */
const char *p6_encode(const struct record *record, struct bus_phase *phase);

#endif
