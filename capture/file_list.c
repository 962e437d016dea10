#include "capture/file_list.h"

#include "formats/base/file_lock.h"
#include "formats/base/grow.h"
#include "formats/capture/capture_file.h"
#include "formats/capture/capture_name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file of the prefix, with its sort key: start of the capture, its ID, the file number. */
struct found_file {
    struct file_set_file file;
    int64_t started_ns; /* start of its capture */
    uint8_t id[CAPTURE_ID_BYTES];
};

static int compare_entries(const void *left, const void *right)
{
    const struct found_file *a = left;
    const struct found_file *b = right;
    if (a->started_ns != b->started_ns)
        return a->started_ns < b->started_ns ? -1 : 1;
    int by_id = memcmp(a->id, b->id, sizeof a->id);
    if (by_id != 0)
        return by_id;
    return (a->file.name.number > b->file.name.number) -
           (a->file.name.number < b->file.name.number);
}

/* Whether the file that is open begins with a capture's header, and what that says. */
static bool read_header(int descriptor, struct capture_member *member)
{
    uint8_t bytes[CAPTURE_MEMBER_HEADER_MAX];
    ssize_t size = pread(descriptor, bytes, sizeof bytes, 0);
    return size > 0 && capture_get_member(member, bytes, (size_t)size, NULL) == 1 &&
           member->kind == CAPTURE_MEMBER_HEADER && capture_info_has_id(&member->info);
}

/* Fills *entry if the file of that name is a capture's, complete. */
static bool look_at(int folder, const char *base, const char *name, struct found_file *entry)
{
    struct capture_name parts;
    struct capture_member member;
    struct stat status;
    if (!capture_name_get(&parts, name) || parts.part || parts.prefix_bytes != strlen(base) ||
        memcmp(name, base, parts.prefix_bytes) != 0 ||
        fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode))
        return false;
    int descriptor = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    const struct file_name file_name = {
        .number = parts.number, .coded = parts.coded, .second = parts.second};
    file_set_identify(&entry->file, &file_name, descriptor);
    bool good = read_header(descriptor, &member);
    close(descriptor);
    if (!good)
        return false;
    entry->started_ns = member.info.started_ns;
    memcpy(entry->id, member.info.id, sizeof entry->id);
    return true;
}

/* Opens the folder for listing. NULL with errno. */
static DIR *open_folder(int folder, const char *name)
{
    int descriptor = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = descriptor < 0 ? NULL : fdopendir(descriptor);
    if (descriptor >= 0 && !listing)
        close(descriptor);
    return listing;
}

/* The next entry. NULL with errno, which is 0 at the end. */
static const struct dirent *next_entry(DIR *listing)
{
    errno = 0;
    return readdir(listing);
}

/* Collects all entries of the prefix. 0 or a negative code. */
static int collect(const struct file_set *set, DIR *listing, struct found_file **entries,
                   size_t *count, struct bt_error *error)
{
    size_t capacity = 0;
    for (const struct dirent *found; (found = next_entry(listing));) {
        struct found_file entry;
        if (!look_at(file_set_folder(set), file_set_base(set), found->d_name, &entry))
            continue;
        struct found_file *grown = grow_array(*entries, &capacity, *count + 1, sizeof *grown);
        if (!grown)
            return bt_fail(error, BT_MEMORY, "no memory for a list of %zu files", *count);
        *entries = grown;
        grown[(*count)++] = entry;
    }
    return errno == 0 ? 0
                      : bt_fail_errno(error, "cannot list the folder of %s", file_set_base(set));
}

int file_list_read(const struct file_set *set, struct file_set_file **files, size_t *count,
                   struct bt_error *error)
{
    struct found_file *entries = NULL;
    *files = NULL;
    *count = 0;
    DIR *listing = open_folder(file_set_folder(set), ".");
    if (!listing)
        return bt_fail_errno(error, "cannot list the folder of %s", file_set_base(set));
    int result = collect(set, listing, &entries, count, error);
    closedir(listing);
    if (result == 0 && *count > 0) {
        qsort(entries, *count, sizeof *entries, compare_entries);
        *files = malloc(*count * sizeof **files);
        if (!*files)
            result = bt_fail(error, BT_MEMORY, "no memory for a list of %zu files", *count);
        for (size_t i = 0; *files && i < *count; i++)
            (*files)[i] = entries[i].file;
    }
    free(entries);
    return result;
}

/* The length of "-p12" at the front of text, for the letter p; 0 if it is missing. */
static size_t derived_part(const char *text, size_t size, char letter)
{
    size_t end = 2;
    if (size < 3 || text[0] != '-' || text[1] != letter)
        return 0;
    while (end < size && text[end] >= '0' && text[end] <= '9')
        end++;
    return end > 2 ? end : 0;
}

/* Whether name is that of a file, complete or not, of the prefix. */
static bool is_of_prefix(const char *name, const char *base, bool derived)
{
    struct capture_name parts;
    size_t size = strlen(base);
    if (strncmp(name, base, size) != 0 || !capture_name_get(&parts, name))
        return false;
    if (derived && size < parts.prefix_bytes)
        size += derived_part(name + size, parts.prefix_bytes - size, 'p');
    if (derived && size < parts.prefix_bytes)
        size += derived_part(name + size, parts.prefix_bytes - size, 't');
    return size == parts.prefix_bytes;
}

int file_list_check_unused(const char *prefix, bool derived, struct bt_error *error)
{
    char folder[FILE_SET_PATH_BYTES];
    char first[NAME_MAX + 1] = "";
    const char *slash = strrchr(prefix, '/');
    int size = slash ? (int)(slash + 1 - prefix) : 0;
    if (size >= (int)sizeof folder - 2)
        return bt_fail(error, BT_USAGE, "the prefix %.60s... is too long", prefix);
    snprintf(folder, sizeof folder, "%.*s.", size, prefix);
    DIR *listing = open_folder(AT_FDCWD, folder);
    if (!listing)
        return errno == ENOENT ? 0 : bt_fail_errno(error, "cannot list the folder %s", folder);
    for (const struct dirent *found; (found = next_entry(listing));)
        if (is_of_prefix(found->d_name, prefix + size, derived) &&
            (!*first || strcmp(found->d_name, first) < 0))
            snprintf(first, sizeof first, "%s", found->d_name);
    int reason = errno;
    closedir(listing);
    errno = reason;
    if (!*first)
        return errno == 0 ? 0 : bt_fail_errno(error, "cannot list the folder %s", folder);
    return bt_fail(error, BT_USAGE,
                   "%.*s%s is a file of another capture: choose another prefix, or --append to it",
                   size, prefix, first);
}

/* Whether it is the lock itself, of a capture or a daemon that runs. */
static bool is_held_lock(const char *path)
{
    static const char suffix[] = ".lock";
    size_t length = strlen(path);
    return length >= sizeof suffix && strcmp(path + length - strlen(suffix), suffix) == 0 &&
           file_lock_is_held(AT_FDCWD, path);
}

bool file_list_is_held(const char *path)
{
    if (is_held_lock(path))
        return true;
    char prefix[FILE_SET_PATH_BYTES];
    char lock[FILE_SET_PATH_BYTES + 8];
    struct capture_name parts;
    return capture_name_get(&parts, path) && parts.prefix_bytes < sizeof prefix &&
           snprintf(prefix, sizeof prefix, "%.*s", (int)parts.prefix_bytes, path) > 0 &&
           file_lock_name(lock, sizeof lock, prefix) && file_lock_is_held(AT_FDCWD, lock);
}
