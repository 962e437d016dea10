#include "tools/depend/depend_flags.h"

#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4200u

/* Finds a file beside the executable, or where it is installed. false: it is in neither folder. */
static bool find(char path[PATH_BYTES], const char *folder, const char *name)
{
    static const char *const places[] = {"", "../lib/bustap/"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const int size = snprintf(path, PATH_BYTES, "%s/%s%s", folder, places[i], name);
        if (size > 0 && (unsigned)size < PATH_BYTES && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

int depend_flags_compiler(const char *folder, FILE *out, struct bt_error *error)
{
    char path[PATH_BYTES];
    if (!find(path, folder, "depend_plugin.so"))
        return bt_fail(error, BT_IO,
                       "the plug-in for GCC 12 is missing: install gcc-12-plugin-dev and g++, and "
                       "build bustap again; or compile with -fsanitize=thread and link without it");
    fprintf(out, "-fplugin=%s\n", path);
    return 0;
}

int depend_flags_linker(const char *folder, FILE *out, struct bt_error *error)
{
    char path[PATH_BYTES];
    if (!find(path, folder, "libbustap-depend.a"))
        return bt_fail(error, BT_IO, "libbustap-depend.a is missing: install bustap again");
    fprintf(out, "%s -ldw -lelf -pthread\n", path);
    return 0;
}

int depend_flags_folder(char *folder, size_t size, struct bt_error *error)
{
    const ssize_t used = readlink("/proc/self/exe", folder, size);
    if (used < 0)
        return bt_fail_errno(error, "/proc/self/exe");
    if ((size_t)used >= size)
        return bt_fail(error, BT_IO, "the path of bustap is too long");
    folder[used] = '\0';
    char *end = strrchr(folder, '/');
    if (end)
        *end = '\0';
    return 0;
}
