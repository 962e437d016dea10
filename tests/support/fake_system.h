/* A folder that replaces a machine's root: its /sys, /proc, /dev, /etc and so on. */
#ifndef TESTS_SUPPORT_FAKE_SYSTEM_H
#define TESTS_SUPPORT_FAKE_SYSTEM_H

#include "tests/support/folder.h"

/* Each makes the missing folders, and replaces an existing file; aborts on failure. */
void fake_system_file(const char *root, const char *path, const char *text);
void fake_system_link(const char *root, const char *path, const char *target);
void fake_system_remove(const char *root, const char *path);

/* Adds a device as the kernel shows it, on bus 250 (that of tests/support/fake_usb.h), with its
 * node. */
void fake_system_device(const char *root, unsigned address);

/* Adds both files of our udev rules. */
void fake_system_rules(const char *root);

#endif
