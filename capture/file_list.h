/* Finds the files of captures on disk, by their names and headers. */
#ifndef CAPTURE_FILE_LIST_H
#define CAPTURE_FILE_LIST_H

#include "capture/file_set.h"

/*
 * The complete files of the set's prefix, of any capture: regular files whose name matches and
 * that begin with a capture's header, sorted by the start of the capture, then by file number. A
 * file and its packed form, which has the same name but for its ending, are one.
 * *files is from malloc. 0, BT_IO or BT_MEMORY.
 */
int file_list_read(const struct file_set *set, struct file_set_file **files, size_t *count,
                   struct bt_error *error);

/* The same for a prefix without a set, which another one may write. A missing folder has no files.
 */
int file_list_find(const char *prefix, struct file_set_file **files, size_t *count,
                   struct bt_error *error);

/* Removes files that a killed process was packing (capture/pack/pack_replace.h), where the file
 * system cannot keep them without a name. Returns their number, BT_USAGE or BT_IO. */
int file_list_clear_parts(const char *prefix, struct bt_error *error);

/*
 * Refuses a prefix that has a capture's files, complete or not: 0, BT_USAGE with the name of one of
 * them, or BT_IO. derived: also those of the prefixes that bustap exec makes of it for processes
 * and threads, PREFIX-p1, PREFIX-t2, PREFIX-p1-t2. A missing folder has no files.
 */
int file_list_check_unused(const char *prefix, bool derived, struct bt_error *error);

/* Whether path is the name of a file of a prefix that a capture is writing to, or its lock. */
bool file_list_is_held(const char *path);

#endif
