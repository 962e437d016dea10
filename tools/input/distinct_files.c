#include "tools/input/distinct_files.h"

#include "tools/input/record_input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file and its place on the command line. */
struct named_file {
    const char *path;
    int place;
    dev_t device;
    ino_t number;
};

static int compare_files(const void *left, const void *right)
{
    const struct named_file *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->place - b->place;
}

static int refuse(const struct named_file *a, const struct named_file *b, struct bt_error *error)
{
    const char *name = record_input_name(a->path);
    return strcmp(a->path, b->path) == 0
               ? bt_fail(error, BT_USAGE, "%.300s is given twice", name)
               : bt_fail(error, BT_USAGE, "%.200s and %.200s are one file, given twice", name,
                         record_input_name(b->path));
}

int distinct_files_check(int count, char *const *paths, struct bt_error *error)
{
    struct named_file *files = calloc((size_t)count + 1, sizeof *files);
    int known = 0, result = 0;
    if (!files)
        return bt_fail(error, BT_MEMORY, "no memory for %d files", count);
    for (int i = 0; i < count; i++) {
        struct stat status;
        if ((strcmp(paths[i], "-") == 0 ? fstat(STDIN_FILENO, &status) : stat(paths[i], &status)) ==
            0)
            files[known++] = (struct named_file){paths[i], i, status.st_dev, status.st_ino};
    }
    qsort(files, (size_t)known, sizeof *files, compare_files);
    for (int i = 1; i < known && result == 0; i++)
        if (files[i].device == files[i - 1].device && files[i].number == files[i - 1].number)
            result = refuse(&files[i - 1], &files[i], error);
    free(files);
    return result;
}
