/*
 * Converts the references of an executed program to requests of a P6 bus. References of sizes that
 * no request has (9 to 15 bytes, 64, ...) become several successive requests; the first one has the
 * time. The processor is its number modulo BUS_SOURCE_AGENTS.
 */
#ifndef CAPTURE_PROGRAM_BUS_SOURCE_H
#define CAPTURE_PROGRAM_BUS_SOURCE_H

#include "formats/record/source.h"

#define BUS_SOURCE_AGENTS 8u

/* Converts the records of `references`, which it takes over, also on failure. Batches need room for
 * 32 records. NULL with *error: no memory. */
struct source *bus_source_new(struct source *references, struct bt_error *error);

#endif
