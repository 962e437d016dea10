#include "tools/dcfg/build_paths.h"

#include <string.h>
#include <sys/stat.h>

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The folder that a file is, or would be, in. */
static bool find_folder(const char *path, struct stat *status)
{
    char folder[4096];
    size_t length = (size_t)(last_part(path) - path);
    if (length >= sizeof folder)
        return false;
    memcpy(folder, path, length);
    folder[length] = '\0';
    return stat(length > 0 ? folder : ".", status) == 0;
}

static bool same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether what is written to output takes the place of the file at path. */
static bool replaces(const char *output, const char *path)
{
    struct stat a;
    struct stat b;
    if (strcmp(output, "-") == 0 || strcmp(path, "-") == 0)
        return false;
    bool exists = stat(output, &a) == 0;
    if (exists != (stat(path, &b) == 0))
        return false;
    if (exists)
        return S_ISREG(a.st_mode) && same(&a, &b);
    return strcmp(last_part(output), last_part(path)) == 0 && find_folder(output, &a) &&
           find_folder(path, &b) && same(&a, &b);
}

static int check(const char *output, const struct captures *captures, const struct images *images,
                 struct bt_error *error)
{
    for (int i = 0; i < captures->count; i++)
        if (replaces(output, captures->paths[i]))
            return bt_fail(error, BT_USAGE, "%s is the capture: what is built needs another name",
                           output);
    for (uint32_t i = 0; i < images_count(images); i++)
        if (replaces(output, images_get(images, i)->path))
            return bt_fail(error, BT_USAGE, "%s is an image: what is built needs another name",
                           output);
    return 0;
}

int build_paths_check(const char *graph, const char *trace, const struct captures *captures,
                      const struct images *images, struct bt_error *error)
{
    if (trace && replaces(trace, graph))
        return bt_fail(error, BT_USAGE, "the graph and the trace cannot both be %s", graph);
    int result = check(graph, captures, images, error);
    if (result == 0 && trace)
        result = check(trace, captures, images, error);
    return result;
}
