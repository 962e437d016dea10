#include "tools/doctor/checks.h"

#include "driver/ftdi_ring.h"
#include "driver/udev_rules.h"

#include <string.h>

#define MEBIBYTE      (1024u * 1024u)
#define RING_MIB      (FTDI_RING_TRANSFERS * FTDI_RING_TRANSFER_BYTES / MEBIBYTE)
#define LIMIT_MIB_MIN 64u /* minimum of the recommended limit */

static void check_usb(struct findings *findings, const struct ftdi_diagnoses *found)
{
    if (found->devices == 0)
        findings_add(findings, FINDING_PROBLEM, "usb",
                     "give this machine, container or virtual machine a USB controller; without "
                     "one, use a virtual board: --board virtual:smp=4",
                     "no USB device is present, not even a hub");
    else if (found->count == 0)
        findings_add(findings, FINDING_PROBLEM, "usb",
                     "plug the board in, check its cable and its power; `bustap boards` lists the "
                     "boards that are present",
                     "none of %zu USB devices is such a board", found->devices);
    else
        findings_add(findings, FINDING_OK, "usb", "", "%zu of %zu USB devices may be boards",
                     found->count, found->devices);
}

static void check_rules_file(struct findings *findings, const char *root, const char *name,
                             const char *purpose, enum finding_level level)
{
    char path[UDEV_RULES_PATH_BYTES];
    char advice[256];
    switch (udev_rules_find(root, name, path)) {
    case UDEV_RULES_THERE:
        findings_add(findings, FINDING_OK, "rules", "", "%s %s", path, purpose);
        break;
    case UDEV_RULES_MASKED:
        snprintf(advice, sizeof advice, "remove %.180s", path);
        findings_add(findings, level, "rules", advice, "%s, which %s, is switched off by %s", name,
                     purpose, path);
        break;
    case UDEV_RULES_MISSING:
        snprintf(advice, sizeof advice,
                 "copy doc/%s to /etc/udev/rules.d, then: udevadm control --reload && udevadm "
                 "trigger --subsystem-match=usb",
                 name);
        findings_add(findings, level, "rules", advice,
                     "%s, which %s, is in none of udevd's folders", name, purpose);
        break;
    }
}

/* Missing rules are a problem if a board cannot be opened, else a warning. */
static void check_rules(struct findings *findings, const struct ftdi_diagnoses *found,
                        const char *root)
{
    enum finding_level level = FINDING_WARNING;
    for (size_t i = 0; i < found->count; i++)
        if (found->boards[i].device.open_error == LIBUSB_ERROR_ACCESS)
            level = FINDING_PROBLEM;
    check_rules_file(findings, root, UDEV_RULES_IDENTIFY, "identifies boards", level);
    check_rules_file(findings, root, UDEV_RULES_ACCESS, "opens them to users", level);
}

/* Checks the memory limit of usbfs, which all programs share. */
static void check_memory(struct findings *findings, const struct ftdi_diagnoses *found,
                         const char *root)
{
    unsigned limit = ftdi_ring_limit_mib(root);
    size_t boards = found->count;
    size_t wanted = boards * RING_MIB;
    size_t usable = ftdi_ring_clamp(boards * FTDI_RING_TRANSFERS, FTDI_RING_TRANSFER_BYTES, limit);
    unsigned better = LIMIT_MIB_MIN;
    char advice[256];
    while (better < wanted * 2 && better < 1024)
        better *= 2;
    snprintf(advice, sizeof advice,
             "raise it as root: echo %u > " FTDI_RING_LIMIT_FILE
             "; permanently: usbcore.usbfs_memory_mb=%u on the kernel's command line",
             better, better);
    if (limit == 0)
        findings_add(findings, FINDING_OK, "memory", "", "USB transfers have no limit");
    else if (usable >= boards * FTDI_RING_TRANSFERS)
        findings_add(findings, FINDING_OK, "memory", "",
                     "%u MiB for all USB transfers, of which %zu board%s need%s %zu MiB", limit,
                     boards, boards == 1 ? "" : "s", boards == 1 ? "s" : "", wanted);
    else
        findings_add(findings,
                     usable < boards * FTDI_RING_TRANSFERS_MIN ? FINDING_PROBLEM : FINDING_WARNING,
                     "memory", advice,
                     "%u MiB for all USB transfers are too few: %zu board%s need%s %zu MiB, and a "
                     "quarter is reserved for other programs",
                     limit, boards, boards == 1 ? "" : "s", boards == 1 ? "s" : "", wanted);
}

void check_machine(struct findings *findings, const struct ftdi_diagnoses *found, const char *root)
{
    findings_subject(findings, "machine", "");
    check_usb(findings, found);
    check_rules(findings, found, root);
    if (found->count > 0)
        check_memory(findings, found, root);
}
