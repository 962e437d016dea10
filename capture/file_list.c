#include "capture/file_list.h"

#include "formats/base/file_lock.h"
#include "formats/base/grow.h"
#include "formats/capture/capture_name.h"
#include "formats/capture/capture_peek.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file of the prefix, with its sort key: start of the capture, its ID, the file number, the time
 * in its name, a packed file after the original. */
struct found_file {
    struct file_set_file file;
    int64_t started_ns; /* start of its capture */
};

static int compare_entries(const void *left, const void *right)
{
    const struct found_file *a = left;
    const struct found_file *b = right;
    if (a->started_ns != b->started_ns)
        return a->started_ns < b->started_ns ? -1 : 1;
    int by_id = memcmp(a->file.id, b->file.id, sizeof a->file.id);
    if (by_id != 0)
        return by_id;
    const struct file_name *left_name = &a->file.name;
    const struct file_name *right_name = &b->file.name;
    if (left_name->number != right_name->number)
        return left_name->number < right_name->number ? -1 : 1;
    if (left_name->second != right_name->second)
        return left_name->second < right_name->second ? -1 : 1;
    return left_name->coded - right_name->coded;
}

/* Whether b is the packed form of a, which was not removed yet. */
static bool is_packed_form(const struct found_file *a, const struct found_file *b)
{
    return memcmp(a->file.id, b->file.id, sizeof a->file.id) == 0 &&
           a->file.name.number == b->file.name.number && a->file.name.second == b->file.name.second;
}

/* Copies sorted files, each with its packed form as one. Returns their number. */
static size_t copy_files(struct file_set_file *files, const struct found_file *entries,
                         size_t count)
{
    size_t copied = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || !is_packed_form(&entries[i - 1], &entries[i]))
            files[copied++] = entries[i].file;
    return copied;
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
    bool good = capture_peek_header(descriptor, &member);
    close(descriptor);
    if (!good)
        return false;
    entry->started_ns = member.info.started_ns;
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

/* Collects all entries of the prefix's last component. 0 or a negative code. */
static int collect(DIR *listing, const char *base, struct found_file **entries, size_t *count,
                   struct bt_error *error)
{
    size_t capacity = 0;
    for (const struct dirent *found; (found = next_entry(listing));) {
        struct found_file entry;
        if (!look_at(dirfd(listing), base, found->d_name, &entry))
            continue;
        struct found_file *grown = grow_array(*entries, &capacity, *count + 1, sizeof *grown);
        if (!grown)
            return bt_fail(error, BT_MEMORY, "no memory for a list of %zu files", *count);
        *entries = grown;
        grown[(*count)++] = entry;
    }
    return errno == 0 ? 0 : bt_fail_errno(error, "cannot list the folder of %s", base);
}

/* Closes the listing. */
static int read_list(DIR *listing, const char *base, struct file_set_file **files, size_t *count,
                     struct bt_error *error)
{
    struct found_file *entries = NULL;
    int result = collect(listing, base, &entries, count, error);
    closedir(listing);
    if (result == 0 && *count > 0) {
        qsort(entries, *count, sizeof *entries, compare_entries);
        *files = malloc(*count * sizeof **files);
        if (!*files)
            result = bt_fail(error, BT_MEMORY, "no memory for a list of %zu files", *count);
        else
            *count = copy_files(*files, entries, *count);
    }
    free(entries);
    return result;
}

int file_list_read(const struct file_set *set, struct file_set_file **files, size_t *count,
                   struct bt_error *error)
{
    *files = NULL;
    *count = 0;
    DIR *listing = open_folder(file_set_folder(set), ".");
    return listing ? read_list(listing, file_set_base(set), files, count, error)
                   : bt_fail_errno(error, "cannot list the folder of %s", file_set_base(set));
}

/* Opens the folder of a prefix for listing and sets *base to the prefix's last component. 1, 0 if
 * there is no such folder, or a negative code. */
static int open_prefix(DIR **listing, const char *prefix, const char **base, struct bt_error *error)
{
    char folder[FILE_SET_PATH_BYTES];
    const char *slash = strrchr(prefix, '/');
    const int size = slash ? (int)(slash + 1 - prefix) : 0;
    *listing = NULL;
    *base = prefix + size;
    if (size >= (int)sizeof folder - 2)
        return bt_fail(error, BT_USAGE, "the prefix %.60s... is too long", prefix);
    snprintf(folder, sizeof folder, "%.*s.", size, prefix);
    *listing = open_folder(AT_FDCWD, folder);
    if (*listing)
        return 1;
    return errno == ENOENT ? 0 : bt_fail_errno(error, "cannot list the folder %s", folder);
}

int file_list_find(const char *prefix, struct file_set_file **files, size_t *count,
                   struct bt_error *error)
{
    DIR *listing;
    const char *base;
    *files = NULL;
    *count = 0;
    const int result = open_prefix(&listing, prefix, &base, error);
    return result == 1 ? read_list(listing, base, files, count, error) : result;
}

/* Whether name is what formats/base/new_file calls a file of the prefix that is being packed. */
static bool is_packing_part(const char *name, const char *base)
{
    static const char suffix[] = ".part-";
    char complete[NAME_MAX + 1];
    struct capture_name parts;
    const char *part = strrchr(name, '.');
    if (!part || strncmp(part, suffix, strlen(suffix)) != 0)
        return false;
    const char *number = part + strlen(suffix);
    snprintf(complete, sizeof complete, "%.*s", (int)(part - name), name);
    return *number && number[strspn(number, "0123456789")] == '\0' &&
           capture_name_get(&parts, complete) && parts.coded && !parts.part &&
           parts.prefix_bytes == strlen(base) && memcmp(complete, base, parts.prefix_bytes) == 0;
}

int file_list_clear_parts(const char *prefix, struct bt_error *error)
{
    DIR *listing;
    const char *base;
    int removed = 0;
    const int result = open_prefix(&listing, prefix, &base, error);
    if (result != 1)
        return result;
    for (const struct dirent *found; (found = next_entry(listing));)
        if (is_packing_part(found->d_name, base) && unlinkat(dirfd(listing), found->d_name, 0) == 0)
            removed++;
    closedir(listing);
    return removed;
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
    char first[NAME_MAX + 1] = "";
    DIR *listing;
    const char *base;
    const int result = open_prefix(&listing, prefix, &base, error);
    if (result != 1)
        return result;
    for (const struct dirent *found; (found = next_entry(listing));)
        if (is_of_prefix(found->d_name, base, derived) &&
            (!*first || strcmp(found->d_name, first) < 0))
            snprintf(first, sizeof first, "%s", found->d_name);
    int reason = errno;
    closedir(listing);
    errno = reason;
    const int size = (int)(base - prefix);
    if (!*first)
        return errno == 0 ? 0 : bt_fail_errno(error, "cannot list the folder %.*s.", size, prefix);
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
