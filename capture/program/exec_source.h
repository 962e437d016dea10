/*
 * An executed program as a source: delivers the records that its process puts into a ring. A tick
 * is an instruction of the program.
 */
#ifndef CAPTURE_PROGRAM_EXEC_SOURCE_H
#define CAPTURE_PROGRAM_EXEC_SOURCE_H

#include "capture/program/message_ring.h"
#include "formats/record/source.h"

/*
 * The ring is owned by the caller and must outlive the source; closing the source closes the ring.
 * info is copied. NULL with *error: no memory.
 */
struct source *exec_source_new(struct message_ring *ring, const struct capture_info *info,
                               struct bt_error *error);

#endif
