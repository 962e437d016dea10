#include "tools/symbols/module_list_copy.h"

#include "tools/symbols/module_list_path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Copies a file. 0 or BT_IO. */
static int copy(const char *from, const char *to, struct bt_error *error)
{
    char buffer[4096];
    size_t bytes;
    FILE *in = fopen(from, "re");
    FILE *out = in ? fopen(to, "we") : NULL;
    int result = 0;
    if (!in || !out)
        result = bt_fail_errno(error, "cannot open %s", in ? to : from);
    while (result == 0 && (bytes = fread(buffer, 1, sizeof buffer, in)) > 0)
        if (fwrite(buffer, 1, bytes, out) < bytes)
            result = bt_fail_errno(error, "cannot write %s", to);
    if (result == 0 && ferror(in))
        result = bt_fail_errno(error, "cannot read %s", from);
    if (in)
        fclose(in);
    if (out && fclose(out) != 0 && result == 0)
        result = bt_fail_errno(error, "cannot write %s", to);
    return result;
}

/* Whether two files have the same content. False also if one cannot be read. */
static bool same_content(const char *left, const char *right)
{
    FILE *a = fopen(left, "re");
    FILE *b = fopen(right, "re");
    bool same = a && b;
    for (int c = 0; same && c != EOF;) {
        c = getc(a);
        same = c == getc(b);
    }
    same = same && !ferror(a) && !ferror(b);
    if (a)
        fclose(a);
    if (b)
        fclose(b);
    return same;
}

/* Whether a line of the list has the times of its module, after the address. */
static bool has_times(const char *list)
{
    char *line = NULL;
    size_t size = 0;
    bool times = false;
    FILE *file = fopen(list, "re");
    while (file && !times && getline(&line, &size, file) > 0) {
        const char *last = strrchr(line, '@');
        times = last && strncmp(last, "@0x", 3) != 0;
    }
    if (file)
        fclose(file);
    free(line);
    return times;
}

/* Finds the list that all captures with a list have. *list: NULL if there is none. 0 or BT_NOTE. */
static int find_common(char **list, int count, char *const *captures, struct bt_error *error)
{
    *list = NULL;
    for (int i = 0; i < count; i++) {
        char *other = module_list_beside(captures[i]);
        const bool same =
            !*list || !other || strcmp(*list, other) == 0 || same_content(*list, other);
        if (!same)
            bt_fail(error, BT_NOTE,
                    "%.150s and %.150s are different lists of modules, and none is copied: "
                    "--modules names the one whose symbols a study shows",
                    *list, other);
        if (*list || !same)
            free(other);
        else
            *list = other;
        if (!same)
            return BT_NOTE;
    }
    return 0;
}

/* Whether a path is the list of one of the captures. */
static bool is_read(const char *path, int count, char *const *captures)
{
    bool found = false;
    for (int i = 0; i < count && !found; i++) {
        char *list = module_list_beside(captures[i]);
        found = list && strcmp(list, path) == 0;
        free(list);
    }
    return found;
}

int module_list_copy(int count, char *const *captures, const char *file, bool moved, bool replace,
                     struct bt_error *error)
{
    char path[PATH_MAX];
    char *list = NULL;
    if (snprintf(path, sizeof path, "%s" MODULE_LIST_SUFFIX, file) >= (int)sizeof path ||
        !module_list_may_write(path))
        return 0;
    int result = find_common(&list, count, captures, error);
    if (result == 0 && list && moved && has_times(list))
        result = bt_fail(error, BT_NOTE,
                         "%.300s has times of modules, which other ticks do not fit: it is not "
                         "copied",
                         list);
    if (result == 0 && list && strcmp(list, path) != 0)
        result = copy(list, path, error);
    else if (replace && !is_read(path, count, captures) && unlink(path) < 0 && errno != ENOENT)
        result = bt_fail_errno(error, "cannot remove %s", path);
    free(list);
    return result;
}
