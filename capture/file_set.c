#include "capture/file_set.h"

#include "capture/stream_output.h"
#include "formats/base/file_lock.h"
#include "formats/base/new_file.h"
#include "formats/capture/capture_name.h"
#include "formats/capture/capture_peek.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES    256u
#define NAME_TRIES    3600  /* seconds a name may be put off */
#define RESERVE_BYTES 16384 /* of the lock file, with its own text */
#define FILE_MODE     0666
#define FOLDER_MODE   0777

struct file_set {
    char prefix[FILE_SET_PREFIX_MAX + 1]; /* as given */
    char folder_name[FILE_SET_PREFIX_MAX + 1];
    char base[NAME_BYTES]; /* the prefix's last part */
    char lock_name[NAME_BYTES];
    int folder; /* -1: standard output */
    int lock;
};

/* Makes every folder on the way to the prefix's last part. */
static int make_folders(const char *prefix, struct bt_error *error)
{
    char path[FILE_SET_PREFIX_MAX + 1];
    snprintf(path, sizeof path, "%s", prefix);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, FOLDER_MODE) < 0 && errno != EEXIST) {
            struct stat there;
            int reason = errno; /* that of stat would be: no such folder */
            bool is_folder = stat(path, &there) == 0 && S_ISDIR(there.st_mode);
            errno = reason;
            if (!is_folder)
                return bt_fail_errno(error, "cannot make the folder %s", path);
        }
        *slash = '/';
    }
    return 0;
}

static int split_prefix(struct file_set *set, const char *prefix, struct bt_error *error)
{
    const char *slash = strrchr(prefix, '/');
    const char *base = slash ? slash + 1 : prefix;
    if (strlen(prefix) > FILE_SET_PREFIX_MAX ||
        strlen(base) > NAME_BYTES - CAPTURE_NAME_ENDING_BYTES)
        return bt_fail(error, BT_USAGE, "the prefix %.60s... is too long", prefix);
    snprintf(set->prefix, sizeof set->prefix, "%s", prefix);
    snprintf(set->base, sizeof set->base, "%s", base);
    file_lock_name(set->lock_name, sizeof set->lock_name, set->base);
    if (slash)
        snprintf(set->folder_name, sizeof set->folder_name, "%.*s",
                 slash == prefix ? 1 : (int)(slash - prefix), prefix);
    else
        snprintf(set->folder_name, sizeof set->folder_name, ".");
    return 0;
}

static int lock_prefix(struct file_set *set, struct bt_error *error)
{
    struct file_lock_found found;
    set->lock = file_lock_take(set->folder, set->lock_name, FILE_MODE, &found, error);
    if (set->lock == BT_BUSY && found.holder > 0)
        return bt_fail(error, BT_BUSY,
                       "process %ld is capturing to %s already; choose another prefix or stop it",
                       found.holder, set->prefix);
    if (set->lock == BT_BUSY)
        return bt_fail(error, BT_BUSY,
                       "another capture writes to %s already; choose another prefix", set->prefix);
    if (set->lock < 0) {
        bt_fail_within(error, "cannot write in the folder %s", set->folder_name);
        return set->lock;
    }
    file_set_take_reserve(set);
    return 0;
}

struct file_set *file_set_new(const char *prefix, struct bt_error *error)
{
    struct file_set *set = calloc(1, sizeof *set);
    if (!set) {
        bt_fail(error, BT_MEMORY, "no memory for the files of %s", prefix);
        return NULL;
    }
    set->folder = -1;
    set->lock = -1;
    if (stream_output_is_named(prefix))
        return set;
    if (split_prefix(set, prefix, error) < 0 || make_folders(prefix, error) < 0)
        goto failed;
    set->folder = open(set->folder_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (set->folder < 0) {
        bt_fail_errno(error, "cannot open the folder %s", set->folder_name);
        goto failed;
    }
    if (lock_prefix(set, error) < 0)
        goto failed;
    return set;
failed:
    file_set_free(set);
    return NULL;
}

int file_set_folder(const struct file_set *set)
{
    return set->folder;
}

const char *file_set_base(const struct file_set *set)
{
    return set->base;
}

void file_set_unlock(struct file_set *set)
{
    if (set->lock < 0)
        return;
    file_lock_release(set->lock, set->folder, set->lock_name);
    set->lock = -1;
}

void file_set_free(struct file_set *set)
{
    if (!set)
        return;
    file_set_unlock(set);
    if (set->folder >= 0)
        close(set->folder);
    free(set);
}

static void put_ending(char ending[CAPTURE_NAME_ENDING_BYTES], const struct file_name *name,
                       bool part)
{
    capture_name_put(ending, &(struct capture_name){.number = name->number,
                                                    .coded = name->coded,
                                                    .second = name->second,
                                                    .part = part});
}

static void put_name(const struct file_set *set, const struct file_name *name, bool part,
                     char out[NAME_BYTES])
{
    char ending[CAPTURE_NAME_ENDING_BYTES];
    put_ending(ending, name, part);
    snprintf(out, NAME_BYTES, "%.*s%s", (int)(NAME_BYTES - CAPTURE_NAME_ENDING_BYTES), set->base,
             ending);
}

void file_set_path(const struct file_set *set, const struct file_name *name, bool part, char *path,
                   size_t size)
{
    char ending[CAPTURE_NAME_ENDING_BYTES];
    put_ending(ending, name, part);
    if (set->folder < 0)
        snprintf(path, size, STREAM_OUTPUT_NAME);
    else
        snprintf(path, size, "%s%s", set->prefix, ending);
}

static bool name_is_taken(const struct file_set *set, const char *name)
{
    struct stat there;
    return fstatat(set->folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Standard output under another descriptor: files are closed one by one. */
static int open_stream(struct bt_error *error)
{
    int descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return descriptor < 0 ? bt_fail_errno(error, "cannot write standard output") : descriptor;
}

int file_set_create(struct file_set *set, uint32_t number, int64_t started_ns, bool coded,
                    struct file_name *name, struct bt_error *error)
{
    *name = (struct file_name){.number = number, .coded = coded, .second = started_ns / 1000000000};
    if (set->folder < 0)
        return open_stream(error);
    for (int i = 0; i < NAME_TRIES; i++, name->second++) {
        char complete[NAME_BYTES];
        char part[NAME_BYTES];
        put_name(set, name, false, complete);
        put_name(set, name, true, part);
        if (name_is_taken(set, complete))
            continue;
        int descriptor =
            openat(set->folder, part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
        if (descriptor >= 0)
            return descriptor;
        if (errno != EEXIST)
            return bt_fail_errno(error, "cannot make %s in the folder %s", part, set->folder_name);
    }
    return bt_fail(error, BT_IO, "all names for file %u of %s are taken", (unsigned)number,
                   set->prefix);
}

static bool same_file(const struct stat *status, dev_t device, ino_t inode)
{
    return S_ISREG(status->st_mode) && status->st_dev == device && status->st_ino == inode;
}

/* Whether something else has taken the place of the file that is open as descriptor. */
static bool is_another(const struct file_set *set, const char *name, int descriptor)
{
    struct stat own;
    struct stat there;
    return fstat(descriptor, &own) == 0 &&
           fstatat(set->folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           !same_file(&there, own.st_dev, own.st_ino);
}

int file_set_complete(struct file_set *set, const struct file_name *name, int descriptor,
                      struct bt_error *error)
{
    char complete[NAME_BYTES];
    char part[NAME_BYTES];
    if (set->folder < 0)
        return 0;
    put_name(set, name, false, complete);
    put_name(set, name, true, part);
    if (file_synchronise(descriptor) < 0)
        return bt_fail_errno(error, "cannot sync %s in %s to the disk", part, set->folder_name);
    if (is_another(set, part, descriptor))
        return bt_fail(error, BT_IO, "%s in %s has been replaced by another file", part,
                       set->folder_name);
    if (file_rename_new(set->folder, part, complete) < 0)
        return bt_fail_errno(error, "cannot rename %s in %s to %s", part, set->folder_name,
                             complete);
    if (file_synchronise(set->folder) < 0)
        return bt_fail_errno(error, "cannot sync the folder %s to the disk", set->folder_name);
    return 0;
}

void file_set_identify(struct file_set_file *file, const struct file_name *name, int descriptor)
{
    struct stat status = {.st_ino = 0};
    struct capture_member header;
    if (fstat(descriptor, &status) < 0)
        status.st_ino = 0; /* no file has it: this one is never removed */
    *file = (struct file_set_file){
        .name = *name, .device = status.st_dev, .inode = status.st_ino, .id = {0}};
    if (capture_peek_header(descriptor, &header))
        memcpy(file->id, header.info.id, sizeof file->id);
}

/* Whether a file of the folder is that file of the same capture: its packed form. */
static bool is_packed_form(const struct file_set *set, const char *name,
                           const struct file_set_file *file)
{
    struct capture_member header;
    const int descriptor =
        openat(set->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    const bool same = capture_peek_header(descriptor, &header) &&
                      header.info.file_number == file->name.number &&
                      memcmp(header.info.id, file->id, sizeof file->id) == 0;
    close(descriptor);
    return same;
}

/* Removes the file from its name, or from the name that it has when it is packed. */
static int remove_named(struct file_set *set, const struct file_set_file *file, bool part,
                        bool coded, struct bt_error *error)
{
    char name[NAME_BYTES];
    struct stat there;
    struct file_name file_name = file->name;
    if (set->folder < 0)
        return 0;
    file_name.coded = coded;
    put_name(set, &file_name, part, name);
    if (fstatat(set->folder, name, &there, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(there.st_mode) ||
        (!same_file(&there, file->device, file->inode) &&
         (part || !is_packed_form(set, name, file))))
        return 0;
    if (unlinkat(set->folder, name, 0) < 0 && errno != ENOENT)
        return bt_fail_errno(error, "cannot remove %s from the folder %s", name, set->folder_name);
    return 0;
}

int file_set_remove(struct file_set *set, const struct file_set_file *file, struct bt_error *error)
{
    int result = file->name.coded ? 0 : remove_named(set, file, false, false, error);
    return result < 0 ? result : remove_named(set, file, false, true, error);
}

int file_set_discard(struct file_set *set, const struct file_name *name, int descriptor,
                     struct bt_error *error)
{
    struct file_set_file file;
    file_set_identify(&file, name, descriptor);
    return remove_named(set, &file, true, name->coded, error);
}

/* Text, not zeros: those could be taken for records. */
void file_set_take_reserve(struct file_set *set)
{
    static const char line[] = "room for the end of the capture\n";
    char text[RESERVE_BYTES - FILE_LOCK_BYTES];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = line[i % (sizeof line - 1)];
    if (set->lock >= 0 &&
        pwrite(set->lock, text, sizeof text, FILE_LOCK_BYTES) != (ssize_t)sizeof text)
        return; /* the reserve is smaller, or missing */
}

void file_set_release_reserve(struct file_set *set)
{
    if (set->lock >= 0 && ftruncate(set->lock, FILE_LOCK_BYTES) < 0)
        return; /* then there is no more room than there was */
}
