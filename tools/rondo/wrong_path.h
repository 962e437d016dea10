/*
 * The capture of wrong paths: a file of its own (formats/capture/capture_writer.h), ticks being the
 * instructions that were executed on the right path and on wrong ones. A wrong path's first record
 * is a fetch with a time of 1 and all instructions of the right path since the last one.
 */
#ifndef TOOLS_RONDO_WRONG_PATH_H
#define TOOLS_RONDO_WRONG_PATH_H

#include "formats/base/error.h"
#include "formats/record/capture_info.h"

struct wrong_path;

/* Makes the file; arguments of the program, NULL behind them, are what the file has as its board.
 * 0, BT_IO, BT_FULL or BT_MEMORY. */
int wrong_path_new(struct wrong_path **wrong, const char *path, const char *const *arguments,
                   struct bt_error *error);

/* What is not closed before is lost. NULL is fine. */
void wrong_path_free(struct wrong_path *wrong);

/* Its descriptor. */
int wrong_path_file(const struct wrong_path *wrong);

/* A wrong path begins, behind so many instructions of the right one since the start. */
void wrong_path_begin(struct wrong_path *wrong, uint64_t instructions);

/* What comes next on it, fetches with a time of 1, all others with 0. 0, BT_IO or BT_FULL: nothing
 * can be put any more. */
int wrong_path_put(struct wrong_path *wrong, const struct record *records, size_t count,
                   struct bt_error *error);

/* Completes the file, once. 0, BT_IO or BT_FULL. */
int wrong_path_close(struct wrong_path *wrong, enum capture_end end, struct bt_error *error);

#endif
