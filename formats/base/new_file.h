/*
 * A file that gets its name when it is complete, and not before: until then it has none, and
 * nothing is left of it when the process is killed. Where the file system cannot do that, it is
 * NAME.part-NUMBER beside its place, under a number that is free. Neither follows a symbolic link
 * nor takes a name that is taken.
 */
#ifndef FORMATS_BASE_NEW_FILE_H
#define FORMATS_BASE_NEW_FILE_H

#include "formats/base/error.h"

struct new_file;

/* Whether the file takes the place of one that has its name. */
enum new_file_name {
    NEW_FILE_ONLY,    /* no: that one stays, and the new file is discarded */
    NEW_FILE_REPLACES /* yes; where the name is a symbolic link, of the link's target */
};

/* Begins a file that is to be called path, in a folder that is there. NULL and *error (BT_IO,
 * BT_FULL or BT_MEMORY) on failure. */
struct new_file *new_file_begin(const char *path, enum new_file_name name, struct bt_error *error);

/* Where to write; it belongs to the file. */
int new_file_descriptor(const struct new_file *file);

/* Brings what was written to the disk. Call it before new_file_commit where the file must survive a
 * loss of power. 0, BT_IO or BT_FULL. */
int new_file_synchronise(struct new_file *file, struct bt_error *error);

/* Closes the file and gives it its name. 0, BT_IO or BT_FULL; on failure it has no name. */
int new_file_commit(struct new_file *file, struct bt_error *error);

/* Frees; a file that was not committed is gone. NULL is allowed. */
void new_file_free(struct new_file *file);

/* fsync, which succeeds where the file system has no such operation. 0, or -1 with errno. */
int file_synchronise(int descriptor);

/* Renames within folder (a descriptor, or AT_FDCWD), never over another file. 0, or -1 with errno:
 * EEXIST where the name is taken. */
int file_rename_new(int folder, const char *from, const char *to);

#endif
