#include "tools/captures.h"

#include "formats/trace_reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A file and what its order depends on. */
struct file {
    const char *path;
    struct capture_info info; /* zero where there is no header */
    int capture;              /* the first file given that is of the same one */
    int given;                /* its own place */
};

static int check_readable_again(const char *path, const char *again, struct bt_error *error)
{
    struct stat status;
    bool pipe = strcmp(path, "-") == 0 || (stat(path, &status) == 0 && S_ISFIFO(status.st_mode));
    if (pipe)
        return bt_fail(error, BT_USAGE,
                       "%s needs the capture twice, and %s can be read once: save it to a file "
                       "first",
                       again, strcmp(path, "-") == 0 ? "standard input" : path);
    return 0;
}

static int read_header(struct file *file, bool lp64, struct bt_error *error)
{
    struct trace_reader *reader;
    if (strcmp(file->path, "-") == 0)
        return 0;
    struct stat status;
    if (stat(file->path, &status) == 0 && S_ISFIFO(status.st_mode))
        return 0; /* what is read of it now is gone */
    int result = trace_reader_open(&reader, file->path, lp64, error);
    if (result != 0)
        return result;
    const struct capture_info *info = source_info(trace_reader_source(reader));
    if (info)
        file->info = *info;
    source_close(trace_reader_source(reader));
    return 0;
}

static int compare(const void *left, const void *right)
{
    const struct file *a = left;
    const struct file *b = right;
    if (a->capture != b->capture)
        return a->capture < b->capture ? -1 : 1;
    if (a->info.file_number != b->info.file_number)
        return a->info.file_number < b->info.file_number ? -1 : 1;
    return a->given < b->given ? -1 : a->given > b->given;
}

static int order(struct file *files, int count, char **paths, const char *again, bool lp64,
                 struct bt_error *error)
{
    for (int i = 0; i < count; i++) {
        files[i] = (struct file){.path = paths[i], .capture = i, .given = i};
        int result = again ? check_readable_again(paths[i], again, error) : 0;
        if (result == 0)
            result = read_header(&files[i], lp64, error);
        if (result != 0)
            return result;
        for (int j = 0; j < i && files[i].capture == i; j++)
            if (capture_info_same_capture(&files[i].info, &files[j].info))
                files[i].capture = files[j].capture;
    }
    qsort(files, (size_t)count, sizeof *files, compare);
    return 0;
}

int captures_order(struct captures *captures, int count, char **paths, const char *again, bool lp64,
                   struct bt_error *error)
{
    struct file *files = calloc((size_t)count + 1, sizeof *files);
    *captures = (struct captures){calloc((size_t)count + 1, sizeof *captures->paths), count};
    int result;
    if (files && captures->paths)
        result = order(files, count, paths, again, lp64, error);
    else
        result = bt_fail(error, BT_MEMORY, "no memory for %d files", count);
    for (int i = 0; i < count && result == 0; i++)
        captures->paths[i] = files[i].path;
    free(files);
    return result;
}

void captures_free(struct captures *captures)
{
    free(captures->paths);
}
