/* Rewrites one capture file, block by block: the same capture with another coding. */
#ifndef CAPTURE_PACK_PACK_FILE_H
#define CAPTURE_PACK_PACK_FILE_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define PACK_LEVEL_MOST    7
#define PACK_LEVEL_DEFAULT 5
#define PACK_LEVEL_ARCHIVE 5 /* from this level on blocks are as large as they may be */

#define PACK_NOT_COMPLETE /* a message about a path */                                             \
    "%.300s is not complete: its capture still runs, or died; 'bustap recover' saves the latter"

#define PACK_STOPPED "%.300s was not packed: the work was stopped" /* a message about a path */

struct pack_settings {
    int level;        /* how much the columns are compressed: the engine's level */
    unsigned threads; /* that code blocks; 0: the caller does */
    /* Called between blocks, with the bytes of path that were read and all of them (0: unknown).
     * False ends the work with BT_CLOSED. */
    bool (*go_on)(void *context, const char *path, uint64_t done, uint64_t total);
    void *context;
};

/* What was written. */
struct pack_counts {
    uint64_t records, lost;
    uint64_t blocks_before, blocks;
    uint64_t bytes_before, bytes; /* before: 0 for a pipe */
};

/*
 * Writes the capture at path ("-" is standard input) to fd, whose name is for messages, and sets
 * *counts. Each block is decoded and compared before it is written, and the totals of each file
 * must be those of its closing member. 0 or a negative code: BT_USAGE if path is not a capture,
 * BT_DATA if it is damaged or not complete, BT_CLOSED if fd is closed or go_on has ended the work.
 */
int pack_file(const char *path, int fd, const char *name, const struct pack_settings *settings,
              struct pack_counts *counts, struct bt_error *error);

#endif
