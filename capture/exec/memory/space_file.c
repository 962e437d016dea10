#define _GNU_SOURCE /* O_PATH */
/* Privately mapped files: a write to the file is visible in pages of the mapping that were not
 * written to. Such writes are not reported, so code of a file that the program can write to is
 * verified at each entry. */
#include "capture/exec/memory/space_internal.h"

#include "formats/base/grow.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool is_file(const struct space_file *file, const struct stat *status)
{
    return file->device == status->st_dev && file->inode == status->st_ino;
}

static bool may_write(int descriptor)
{
    int how = fcntl(descriptor, F_GETFL);
    return how >= 0 && !(how & O_PATH) && (how & O_ACCMODE) != O_RDONLY;
}

/* Whether a descriptor that can write to it is open. */
static bool is_open(const struct stat *wanted)
{
    bool found = false;
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *entry; folder && !found && (entry = readdir(folder)) != NULL;) {
        int descriptor = atoi(entry->d_name);
        struct stat status;
        found = descriptor != dirfd(folder) && may_write(descriptor) &&
                fstat(descriptor, &status) == 0 && status.st_dev == wanted->st_dev &&
                status.st_ino == wanted->st_ino;
    }
    if (folder)
        closedir(folder);
    return found;
}

bool space_file_shows_writes(const struct space *space, int descriptor)
{
    struct stat status;
    if (may_write(descriptor))
        return true;
    if (fstat(descriptor, &status) != 0)
        return false;
    for (size_t i = 0; i < SPACE_FILES_WRITTEN; i++)
        if (is_file(&space->written[i], &status))
            return is_open(&status);
    return false;
}

void space_file_mapped(struct space *space, const struct space_mapping *mapping, int descriptor)
{
    struct stat status;
    size_t kept = 0;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    for (size_t i = 0; i < space->file_count; i++) /* remove the ranges that it replaces */
        if (space->files[i].end <= mapping->start || space->files[i].start >= mapping->end)
            space->files[kept++] = space->files[i];
    space->file_count = kept;
    struct space_file *files =
        grow_array(space->files, &space->file_capacity, kept + 1, sizeof *files);
    if (!files)
        return;
    space->files = files;
    files[space->file_count++] = (struct space_file){.device = status.st_dev,
                                                     .inode = status.st_ino,
                                                     .start = mapping->start,
                                                     .end = mapping->end};
}

static void look_from_now_on(struct space *space, uint64_t at, uint64_t end)
{
    struct space_mapping piece;
    while (space_table_next(&space->table, &at, end, &piece)) {
        if ((piece.flags & (SPACE_FOREIGN | SPACE_SHARED)) ||
            !space_table_reserve(&space->table, 1))
            continue;
        piece.flags |= SPACE_SHARED;
        atomic_fetch_add(&space->changes, 1);
        space_table_set(&space->table, &piece);
        space_tell_changed(space, piece.start, piece.end);
    }
}

void space_file_written(struct space *space, uint64_t device, uint64_t inode)
{
    const struct space_file written = {.device = device, .inode = inode};
    const struct stat status = {.st_dev = device, .st_ino = inode};
    bool known = false;
    pthread_mutex_lock(&space->mutex);
    for (size_t i = 0; i < SPACE_FILES_WRITTEN && !known; i++)
        known = is_file(&space->written[i], &status);
    if (!known)
        space->written[space->written_count++ % SPACE_FILES_WRITTEN] = written;
    for (size_t i = 0; i < space->file_count; i++)
        if (is_file(&space->files[i], &status))
            look_from_now_on(space, space->files[i].start, space->files[i].end);
    pthread_mutex_unlock(&space->mutex);
}
