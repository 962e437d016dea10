/*
 * The files of one capture: PREFIX_00001_20261120T224500Z.byu.gz, or .byb, and so on. Each is
 * written as NAME.part and renamed when it is complete and on the disk. .PREFIX.lock is held
 * meanwhile. The set overwrites, truncates and removes only its own files, and complete files of
 * earlier captures to the same prefix if the caller asks for it (capture/file_list.h).
 */
#ifndef CAPTURE_FILE_SET_H
#define CAPTURE_FILE_SET_H

#include "formats/base/error.h"
#include "formats/record/capture_info.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FILE_SET_PREFIX_MAX 4000u /* bytes of a prefix; leaves room for the suffixes */
#define FILE_SET_PATH_BYTES 4096u

struct file_set;

/* Identifies a file within its set. */
struct file_name {
    uint32_t number;
    bool coded;     /* .byb */
    int64_t second; /* since 1970 UTC */
};

/* A complete file, with its identity when it was found. */
struct file_set_file {
    struct file_name name;
    dev_t device;
    ino_t inode;
    uint8_t id[CAPTURE_ID_BYTES]; /* of its capture; zeros if it has no header */
};

/*
 * Creates the folder of prefix, with its parents, and locks the prefix. NULL and *error on failure:
 * BT_BUSY names the process that captures to the same prefix. A lock ends with its process.
 * The prefix "-" is standard output (capture/stream_output.h): its files are parts of one stream,
 * which need neither a name nor a lock; there is no folder.
 */
struct file_set *file_set_new(const char *prefix, struct bt_error *error);

/* Unlocks the prefix; file_set_path still works. */
void file_set_unlock(struct file_set *set);

/* Unlocks and frees. NULL is allowed. */
void file_set_free(struct file_set *set);

/*
 * Creates a part file with the start time started_ns (realtime); coded: its name ends in .byb. If
 * the name exists, also as the part file of a capture that was killed, the next second is used.
 * Returns the file's descriptor and fills *name, or a negative code.
 */
int file_set_create(struct file_set *set, uint32_t number, int64_t started_ns, bool coded,
                    struct file_name *name, struct bt_error *error);

/* Synchronizes a part file and renames it, never over another file. 0, BT_FULL or BT_IO. */
int file_set_complete(struct file_set *set, const struct file_name *name, int descriptor,
                      struct bt_error *error);

/* Fills *file for a file of the set that is open as descriptor. */
void file_set_identify(struct file_set_file *file, const struct file_name *name, int descriptor);

/* Removes a complete file, also if it was packed since: its name then ends in .byb. Does nothing if
 * it is gone or another file has its name. 0 or BT_IO. */
int file_set_remove(struct file_set *set, const struct file_set_file *file, struct bt_error *error);

/* The same for a part file, which is open as descriptor. */
int file_set_discard(struct file_set *set, const struct file_name *name, int descriptor,
                     struct bt_error *error);

/* The descriptor of its folder, and the last component of its prefix; owned by the set. */
int file_set_folder(const struct file_set *set);
const char *file_set_base(const struct file_set *set);

/* Writes the path of a complete file or of its part file, as the prefix was given. */
void file_set_path(const struct file_set *set, const struct file_name *name, bool part, char *path,
                   size_t size);

/* Reserves disk space, if there is any, for the closing member on a disk that is full by then, and
 * releases it. A new set has reserved it. */
void file_set_take_reserve(struct file_set *set);
void file_set_release_reserve(struct file_set *set);

#endif
