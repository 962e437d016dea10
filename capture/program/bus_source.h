/*
 * An executed program's references as a P6 bus could carry them: those of sizes that no request has
 * (9 to 15 bytes, 64, ...) become several requests, one after the other, the first with the time;
 * of the processor's number the low three bits are kept.
 */
#ifndef CAPTURE_PROGRAM_BUS_SOURCE_H
#define CAPTURE_PROGRAM_BUS_SOURCE_H

#include "formats/record/source.h"

/* Of what `references` delivers, which is taken over, also on failure. Batches need room for 32
 * records. NULL and *error: no memory. */
struct source *bus_source_new(struct source *references, struct bt_error *error);

#endif
