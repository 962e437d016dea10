/*
 * The capture of wrong paths: a separate file (formats/capture/capture_writer.h). Its ticks are the
 * instructions executed on the right path and on wrong paths. The first record of a wrong path is a
 * fetch whose time is 1 plus the instructions of the right path since the previous wrong path.
 */
#ifndef TOOLS_RONDO_WRONG_PATH_H
#define TOOLS_RONDO_WRONG_PATH_H

#include "formats/base/error.h"
#include "formats/record/capture_info.h"

struct wrong_path;

/* Makes the file. The program's arguments, terminated by NULL, are stored as the name of the board.
 * 0, BT_IO, BT_FULL or BT_MEMORY. */
int wrong_path_new(struct wrong_path **wrong, const char *path, const char *const *arguments,
                   struct bt_error *error);

/* Loses records that are not written yet. wrong may be NULL. */
void wrong_path_free(struct wrong_path *wrong);

/* The file descriptor. */
int wrong_path_file(const struct wrong_path *wrong);

/* Begins a wrong path after this number of instructions of the right path since the start. */
void wrong_path_begin(struct wrong_path *wrong, uint64_t instructions);

/* Appends records to the path: fetches have a time of 1, all others 0. 0, BT_IO or BT_FULL, after
 * which nothing more can be appended. */
int wrong_path_put(struct wrong_path *wrong, const struct record *records, size_t count,
                   struct bt_error *error);

/* Completes the file; call once. 0, BT_IO or BT_FULL. */
int wrong_path_close(struct wrong_path *wrong, enum capture_end end, struct bt_error *error);

#endif
