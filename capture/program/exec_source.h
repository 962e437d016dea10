/*
 * An executed program as a source of records: what its process puts into a ring comes out here. The
 * clock is the program's own: a tick is an instruction.
 */
#ifndef CAPTURE_PROGRAM_EXEC_SOURCE_H
#define CAPTURE_PROGRAM_EXEC_SOURCE_H

#include "capture/program/record_ring.h"
#include "formats/record/source.h"

/*
 * Takes what comes out of the ring, which stays the caller's and outlives the source; closing it
 * closes the ring. info is copied. NULL and *error: no memory.
 */
struct source *exec_source_new(struct record_ring *ring, const struct capture_info *info,
                               struct bt_error *error);

#endif
