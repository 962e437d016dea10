#include "tests/support/fake_system.h"

#include "tests/support/fake_usb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES (2 * FOLDER_PATH_BYTES)

/* The whole path, with the folders it is in. */
static void prepare(char whole[PATH_BYTES], const char *root, const char *path)
{
    int length = snprintf(whole, PATH_BYTES, "%s%s", root, path);
    if (length < 0 || length >= (int)PATH_BYTES)
        abort();
    for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        (void)mkdir(whole, 0700); /* may exist */
        *slash = '/';
    }
}

void fake_system_remove(const char *root, const char *path)
{
    char whole[PATH_BYTES];
    prepare(whole, root, path);
    (void)unlink(whole);
}

void fake_system_file(const char *root, const char *path, const char *text)
{
    char whole[PATH_BYTES];
    prepare(whole, root, path);
    FILE *file = fopen(whole, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        abort();
}

void fake_system_link(const char *root, const char *path, const char *target)
{
    char whole[PATH_BYTES];
    prepare(whole, root, path);
    (void)unlink(whole);
    if (symlink(target, whole) != 0)
        abort();
}

void fake_system_device(const char *root, unsigned address)
{
    char path[128];
    char text[16];
    snprintf(path, sizeof path, "/sys/bus/usb/devices/9-%u/busnum", address);
    snprintf(text, sizeof text, "%u\n", FAKE_USB_BUS);
    fake_system_file(root, path, text);
    snprintf(path, sizeof path, "/sys/bus/usb/devices/9-%u/devnum", address);
    snprintf(text, sizeof text, "%u\n", address);
    fake_system_file(root, path, text);
    snprintf(path, sizeof path, "/dev/bus/usb/%03u/%03u", FAKE_USB_BUS, address);
    fake_system_file(root, path, "");
}

void fake_system_rules(const char *root)
{
    fake_system_file(root, "/usr/lib/udev/rules.d/60-bustap.rules", "rules\n");
    fake_system_file(root, "/etc/udev/rules.d/61-bustap-access.rules", "rules\n");
}
