#include "tools/common/overwrite.h"

#include "capture/file_list.h"
#include "formats/base/new_file.h"
#include "tools/common/words.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of a file, which may be missing. */
static bool find_folder(const char *path, struct stat *status)
{
    char folder[4096];
    size_t length = (size_t)(words_file_name(path) - path);
    if (length >= sizeof folder)
        return false;
    memcpy(folder, path, length);
    folder[length] = '\0';
    return stat(length > 0 ? folder : ".", status) == 0;
}

/* The file at a path, or the open file `standard` for "-". False: the file is missing. */
static bool find_file(const char *path, int standard, struct stat *status)
{
    return (strcmp(path, "-") == 0 ? fstat(standard, status) : stat(path, status)) == 0;
}

static bool same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool overwrite_happens(const char *output, const char *path)
{
    struct stat a;
    struct stat b;
    bool exists = find_file(output, STDOUT_FILENO, &a);
    if (exists != find_file(path, STDIN_FILENO, &b))
        return false;
    if (exists)
        return S_ISREG(a.st_mode) && same(&a, &b);
    return strcmp(words_file_name(output), words_file_name(path)) == 0 && find_folder(output, &a) &&
           find_folder(path, &b) && same(&a, &b);
}

int overwrite_check_held(const char *output, struct bt_error *error)
{
    return file_list_is_held(output)
               ? bt_fail(error, BT_BUSY, "%.300s belongs to a capture that is running", output)
               : 0;
}

int overwrite_check(const char *output, int count, char *const *inputs, const char *what,
                    struct bt_error *error)
{
    for (int i = 0; i < count; i++)
        if (overwrite_happens(output, inputs[i]))
            return bt_fail(error, BT_USAGE, "%.300s is read: %s needs another name",
                           strcmp(output, "-") == 0 ? "standard output" : output, what);
    return overwrite_check_held(output, error);
}

static int fail_exists(const char *output, struct bt_error *error)
{
    return bt_fail(error, BT_IO, "%s exists already; --force replaces it", output);
}

int overwrite_check_exists(const char *output, bool force, struct bt_error *error)
{
    struct stat there;
    if (force || strcmp(output, "-") == 0 || lstat(output, &there) != 0)
        return 0;
    /* a link to nothing has the name, too */
    const bool in_the_way = stat(output, &there) != 0 || S_ISREG(there.st_mode);
    return in_the_way ? fail_exists(output, error) : 0;
}

struct new_file *overwrite_begin(const char *output, bool force, struct bt_error *error)
{
    struct stat there;
    bool taken = lstat(output, &there) == 0;
    if (taken && !force) {
        fail_exists(output, error);
        return NULL;
    }
    if (taken && (stat(output, &there) != 0 || !S_ISREG(there.st_mode))) {
        bt_fail(error, BT_IO,
                "%s is not a regular file and is not replaced; -o - writes to standard output",
                output);
        return NULL;
    }
    return new_file_begin(output, force ? NEW_FILE_REPLACES : NEW_FILE_ONLY, error);
}
