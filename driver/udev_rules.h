/* Whether our udev rules are where udevd looks for them. */
#ifndef DRIVER_UDEV_RULES_H
#define DRIVER_UDEV_RULES_H

#define UDEV_RULES_PATH_BYTES 256u

#define UDEV_RULES_IDENTIFY "60-bustap.rules"
#define UDEV_RULES_ACCESS   "61-bustap-access.rules"

enum udev_rules {
    UDEV_RULES_MISSING,
    UDEV_RULES_MASKED, /* an empty file or /dev/null has its name, in a folder that comes first */
    UDEV_RULES_THERE
};

/*
 * Looks for a file of rules in udevd's folders: /etc/udev/rules.d, /run, /usr/local/lib, /usr/lib,
 * /lib. path gets where it is, unless it is missing. root stands in front of all folders, "" for
 * this machine's.
 */
enum udev_rules udev_rules_find(const char *root, const char *name,
                                char path[UDEV_RULES_PATH_BYTES]);

#endif
