/*
 * The files of one capture: PREFIX_00001_20261120T224500Z.byu.gz and so on. Each is written as
 * NAME.part and gets its name when it is complete and on the disk. .PREFIX.lock is held meanwhile.
 * Nothing that the set did not make is overwritten, truncated or removed, but for complete files of
 * earlier captures to the same prefix, which the caller asks for (capture/file_list.h).
 */
#ifndef CAPTURE_FILE_SET_H
#define CAPTURE_FILE_SET_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FILE_SET_PREFIX_MAX 4000u /* bytes of a prefix; leaves room for what is appended */
#define FILE_SET_PATH_BYTES 4096u

struct file_set;

/* What tells the files of a set apart. */
struct file_name {
    uint32_t number;
    int64_t second; /* since 1970 UTC */
};

/* A complete file, and which one it was when it was found. */
struct file_set_file {
    struct file_name name;
    dev_t device;
    ino_t inode;
};

/*
 * Makes the folder of prefix, with its parents, and locks the prefix. NULL and *error on failure:
 * BT_BUSY names the process that captures to the same prefix. A lock dies with its process.
 */
struct file_set *file_set_new(const char *prefix, struct bt_error *error);

/* Lets others have the prefix; paths can still be asked for. */
void file_set_unlock(struct file_set *set);

/* Unlocks and frees. NULL is allowed. */
void file_set_free(struct file_set *set);

/*
 * Makes a new part file, begun at started_ns (realtime), and opens it. A name that is taken, also
 * by the part file of a capture that died, is left alone and the next second used. Returns the
 * file's descriptor and fills *name, or a negative code.
 */
int file_set_create(struct file_set *set, uint32_t number, int64_t started_ns,
                    struct file_name *name, struct bt_error *error);

/* Brings a part file to the disk and gives it its name, never over another file. 0, BT_FULL or
 * BT_IO. */
int file_set_complete(struct file_set *set, const struct file_name *name, int descriptor,
                      struct bt_error *error);

/* Fills *file for a file of the set that is open as descriptor. */
void file_set_identify(struct file_set_file *file, const struct file_name *name, int descriptor);

/* Removes a complete file. One that is gone, or in whose place is another, is left as it is. 0 or
 * BT_IO. */
int file_set_remove(struct file_set *set, const struct file_set_file *file, struct bt_error *error);

/* Removes a part file, which is open as descriptor, on the same terms. */
int file_set_discard(struct file_set *set, const struct file_name *name, int descriptor,
                     struct bt_error *error);

/* Its folder, open, and the last part of its prefix; they belong to the set. */
int file_set_folder(const struct file_set *set);
const char *file_set_base(const struct file_set *set);

/* Writes the path of a complete file or of its part file, as the prefix was given. */
void file_set_path(const struct file_set *set, const struct file_name *name, bool part, char *path,
                   size_t size);

/* Takes some disk space, if there is any, for the closing member on a disk that is full by then; a
 * new set has it. And gives it back. */
void file_set_take_reserve(struct file_set *set);
void file_set_release_reserve(struct file_set *set);

#endif
