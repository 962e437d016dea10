/*
 * A file that gets its name when it is complete. Until then it has none, and leaves nothing if the
 * process is killed. If the file system does not support that, it is NAME.part-NUMBER in the same
 * folder, with a free number. Neither follows a symbolic link nor replaces an existing file of that
 * name.
 */
#ifndef FORMATS_BASE_NEW_FILE_H
#define FORMATS_BASE_NEW_FILE_H

#include "formats/base/error.h"

struct new_file;

/* Whether the file replaces an existing one of its name. */
enum new_file_name {
    NEW_FILE_ONLY,    /* no: the existing file stays, and the new file is discarded */
    NEW_FILE_REPLACES /* yes; if the name is a symbolic link, the link's target */
};

/* Begins a file that will be named path, in an existing folder. NULL and *error (BT_IO, BT_FULL or
 * BT_MEMORY) on failure. */
struct new_file *new_file_begin(const char *path, enum new_file_name name, struct bt_error *error);

/* The descriptor to write to, owned by the file. */
int new_file_descriptor(const struct new_file *file);

/* Syncs the file to the disk. Call it before new_file_commit if the file must survive a loss of
 * power. 0, BT_IO or BT_FULL. */
int new_file_synchronise(struct new_file *file, struct bt_error *error);

/* Closes the file and gives it its name. 0, BT_IO or BT_FULL; on failure it has no name. */
int new_file_commit(struct new_file *file, struct bt_error *error);

/* Frees; discards a file that was not committed. NULL is allowed. */
void new_file_free(struct new_file *file);

/* fsync, which succeeds if the file system does not support it. 0, or -1 with errno. */
int file_synchronise(int descriptor);

/* Renames within folder (a descriptor, or AT_FDCWD), never over another file. 0, or -1 with errno:
 * EEXIST where the name is taken. */
int file_rename_new(int folder, const char *from, const char *to);

#endif
