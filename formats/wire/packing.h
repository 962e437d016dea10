/*
 * Records packed by delta, to save link bandwidth. doc/wire-protocol.md, "Packed records".
 * A packer starts empty in each frame, so that every frame can be read alone. Freestanding.
 *
 * A packed record is a control byte and the fields that it selects, in this order:
 *
 *   bits 3..0  slot: 0 to 14, the kind (type, size, attribute, processor) that slot holds;
 *              15, a new kind follows in 4 bytes and goes into the next slot (0, 1, ... 14, 0, ...)
 *   bits 5..4  address: 0, 1 or 2, a signed difference of 1, 2 or 3 bytes to the address last
 *              packed for that slot; 3, the address in 4 bytes
 *   bits 7..6  time: 0, 1 or 2, the time in 1, 2 or 4 bytes; 3, the same as last for that slot
 *
 * A new kind starts with address and time 0.
 *
 * All numbers are little endian; differences wrap modulo 2^32.
 */
#ifndef FORMATS_WIRE_PACKING_H
#define FORMATS_WIRE_PACKING_H

#include "formats/record/record.h"

#define PACKING_SLOTS            15u
#define PACKING_RECORD_MAX_BYTES 13u

struct packing_slot {
    uint32_t kind; /* the record's bytes 4 to 7, as a little-endian number */
    uint32_t address;
    uint32_t time;
};

/* The state of both directions; packing_reset starts it. */
struct packing {
    struct packing_slot slots[PACKING_SLOTS];
    uint8_t used; /* slots that hold a kind */
    uint8_t next; /* the slot a new kind goes into */
};

/* Starts a frame. */
void packing_reset(struct packing *packing);

/* Appends one record at out (room for PACKING_RECORD_MAX_BYTES); returns the bytes written. */
size_t packing_put(struct packing *packing, const struct record *record, uint8_t *out);

/*
 * Unpacks exactly count records from size bytes, from a reset state. Returns 0, or -1 if the bytes
 * are not exactly count packed records (an empty slot, an end too early or too late).
 */
int packing_get_all(struct record *records, size_t count, const uint8_t *bytes, size_t size);

#endif
