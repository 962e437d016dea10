/*
 * Writes a derived capture (doc/capture-file.md): batches that a command has selected or joined,
 * with the ticks and indices that they have. Nothing is written before the first of them, which
 * gives the file its first index.
 */
#ifndef TOOLS_CUT_DERIVED_WRITER_H
#define TOOLS_CUT_DERIVED_WRITER_H

#include "formats/base/error.h"
#include "formats/record/capture_info.h"

#include <stddef.h>

struct derived_writer;

/* What has been written. */
struct derived_counts {
    uint64_t first_index, end_index;
    uint64_t first_tick, last_tick; /* of the records; 0 without records */
    uint64_t records, blocks;
    uint64_t copied; /* of the blocks: not compressed again */
    struct loss lost;
    uint64_t filtered; /* records removed by a filter */
    uint64_t bytes;
    uint64_t clock_hz; /* ticks per second; 0: unknown */
    bool moved;        /* ticks are not those of the inputs */
};

/*
 * Writes to fd, which stays open; name is its name in errors, must outlive the writer, and decides
 * on the version: 2, as columns, if it ends in ".byb". info
 * describes the capture; the writer sets what derived captures have of their own, and an id if it
 * has none. NULL and *error.
 */
struct derived_writer *derived_writer_new(int fd, const char *name, const struct capture_info *info,
                                          struct bt_error *error);
void derived_writer_free(struct derived_writer *writer);

/* Adds a batch; its index follows that of the last one. A batch without records, loss and gap is
 * left out. 0 or a negative code. */
int derived_writer_put(struct derived_writer *writer, const struct batch *batch,
                       struct bt_error *error);

/* Adds a member as it is stored, except for position and losses, which are those of batch. The
 * member is of the writer's version. 0 or a negative code. */
int derived_writer_copy(struct derived_writer *writer, const struct batch *batch,
                        const uint8_t *bytes, size_t size, bool restated, struct bt_error *error);

/*
 * Ends the file. totals has end, message, time, the counts of the source except those of accepted
 * requests, as file_lost the requests lost after the last record, and as end_index the index before
 * them, which a file without members begins with. 0 or a negative code.
 */
int derived_writer_close(struct derived_writer *writer, struct capture_totals *totals,
                         struct bt_error *error);

/* The version of the file's members. */
unsigned derived_writer_version(const struct derived_writer *writer);

const struct derived_counts *derived_writer_counts(const struct derived_writer *writer);

#endif
