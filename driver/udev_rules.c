#include "driver/udev_rules.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

enum udev_rules udev_rules_find(const char *root, const char *name,
                                char path[UDEV_RULES_PATH_BYTES])
{
    /* in order of precedence */
    static const char *const folders[] = {"/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        struct stat status;
        int length =
            snprintf(path, UDEV_RULES_PATH_BYTES, "%s%s/udev/rules.d/%s", root, folders[i], name);
        if (length < 0 || length >= (int)UDEV_RULES_PATH_BYTES || stat(path, &status) != 0)
            continue;
        return S_ISREG(status.st_mode) && status.st_size > 0 ? UDEV_RULES_THERE : UDEV_RULES_MASKED;
    }
    path[0] = '\0';
    return UDEV_RULES_MISSING;
}
