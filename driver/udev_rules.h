/* Whether bustap's udev rules are installed where udevd finds them. */
#ifndef DRIVER_UDEV_RULES_H
#define DRIVER_UDEV_RULES_H

#define UDEV_RULES_PATH_BYTES 256u

#define UDEV_RULES_IDENTIFY "60-bustap.rules"
#define UDEV_RULES_ACCESS   "61-bustap-access.rules"

enum udev_rules {
    UDEV_RULES_MISSING,
    UDEV_RULES_MASKED, /* disabled by an empty file or /dev/null of its name in an earlier folder */
    UDEV_RULES_THERE
};

/*
 * Searches udevd's folders for a file of rules: /etc/udev/rules.d, /run, /usr/local/lib, /usr/lib,
 * /lib. path gets its path unless it is missing. root is a prefix of all folders, "" for this
 * machine.
 */
enum udev_rules udev_rules_find(const char *root, const char *name,
                                char path[UDEV_RULES_PATH_BYTES]);

#endif
