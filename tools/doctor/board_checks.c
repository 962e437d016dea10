#include "tools/doctor/checks.h"

#include "driver/ftdi_packets.h"
#include "driver/udev_rules.h"

#include <pwd.h>
#include <string.h>
#include <unistd.h>

#define HIGH_SPEED_PACKET 512u /* bytes */
#define ADVICE_BYTES      480u

/* Whether another board has the same specification, so that boards_open cannot choose this one. */
static bool has_twin(const struct ftdi_diagnoses *found, size_t place)
{
    for (size_t i = 0; i < found->count; i++)
        if (i != place &&
            strcmp(found->boards[i].specification, found->boards[place].specification) == 0)
            return true;
    return false;
}

static bool check_chip(struct findings *findings, const struct ftdi_diagnosis *board, bool twin,
                       char channel)
{
    const char *chip = ftdi_diagnosis_chip(board);
    if (twin)
        findings_add(findings, FINDING_PROBLEM, "serial",
                     "give each board a serial number of its own with ftdi_eeprom",
                     "another board that is plugged in has the same ids and serial number, so that "
                     "neither can be chosen");
    if (!chip)
        findings_add(findings, FINDING_PROBLEM, "chip", "a board has an FT232H or an FT2232H",
                     "release %04x is that of a chip without synchronous FIFO",
                     board->device.release);
    else if (channel == 'B' && board->device.release != FTDI_RELEASE_FT2232H)
        findings_add(findings, FINDING_PROBLEM, "chip", "omit channel=", "an %s has no channel B",
                     chip);
    else
        findings_add(findings, FINDING_OK, "chip", "", "%s", chip);
    return chip && !twin && (channel == 'A' || board->device.release == FTDI_RELEASE_FT2232H);
}

static bool check_port(struct findings *findings, const struct ftdi_device *device)
{
    bool slow = device->speed == LIBUSB_SPEED_LOW || device->speed == LIBUSB_SPEED_FULL ||
                device->packet_bytes < HIGH_SPEED_PACKET;
    findings_add(findings, slow ? FINDING_PROBLEM : FINDING_OK, "port",
                 slow ? "use a USB 2 or USB 3 port, without an old hub between" : "",
                 "%s%s, %u-byte packets", slow ? "slow port: " : "",
                 ftdi_device_speed(device->speed), device->packet_bytes);
    return !slow;
}

/* --- permission --- */

static bool has_rules(const char *root, const char *name)
{
    char path[UDEV_RULES_PATH_BYTES];
    return udev_rules_find(root, name, path) == UDEV_RULES_THERE;
}

static const char *our_name(void)
{
    const struct passwd *user = getpwuid(geteuid());
    return user ? user->pw_name : "this user";
}

/* Writes what gives this user access to the node. */
static void advise_permission(char advice[ADVICE_BYTES], const struct ftdi_diagnosis *board,
                              const char *root)
{
    const struct usb_node *node = &board->node;
    if (!node->identified && board->device.private_ids)
        snprintf(advice, ADVICE_BYTES,
                 "identify it in /etc/udev/rules.d/60-bustap-local.rules: "
                 "ATTR{idVendor}==\"%04x\", ATTR{idProduct}==\"%04x\", ENV{ID_BUSTAP}=\"1\"; then: "
                 "udevadm control --reload && udevadm trigger --subsystem-match=usb",
                 board->device.vid, board->device.pid);
    else if (!has_rules(root, UDEV_RULES_IDENTIFY) || !has_rules(root, UDEV_RULES_ACCESS))
        snprintf(advice, ADVICE_BYTES, "install the missing udev rules, as said above");
    else if (!node->identified || node->in_group || strcmp(node->group, "plugdev") != 0)
        snprintf(advice, ADVICE_BYTES,
                 "the udev rules are installed, but not applied to the board: plug it in again, "
                 "or: udevadm control --reload && udevadm trigger --subsystem-match=usb");
    else
        snprintf(advice, ADVICE_BYTES,
                 "join the group: adduser %.60s plugdev, and log in again; or log in at the "
                 "machine's console",
                 our_name());
}

static bool check_permission(struct findings *findings, const struct ftdi_diagnosis *board,
                             const char *root)
{
    const struct usb_node *node = &board->node;
    int code = board->device.open_error;
    char advice[ADVICE_BYTES] = "";
    char mode[160] = "";
    if (node->exists)
        snprintf(mode, sizeof mode, ": mode %04o, owner %s, group %s", node->mode, node->owner,
                 node->group);
    if (code == 0) {
        findings_add(findings, FINDING_OK, "permission", "", "%s is open to %s%s", node->path,
                     our_name(), mode);
        return true;
    }
    if (code == LIBUSB_ERROR_ACCESS) {
        advise_permission(advice, board, root);
        findings_add(findings, FINDING_PROBLEM, "permission", advice,
                     "%s is closed to %s, who is %s%s", node->path, our_name(),
                     node->in_group ? "in its group" : "not in its group", mode);
    } else if (!node->exists) {
        findings_add(findings, FINDING_PROBLEM, "open",
                     "plug the board in again; a container needs access to /dev/bus/usb",
                     "%s does not exist", node->path);
    } else {
        findings_add(findings, FINDING_PROBLEM, "open", "plug the board in again",
                     "%s cannot be opened: %s%s", node->path, libusb_error_name(code), mode);
    }
    return false;
}

/* --- drivers and programs that use the board --- */

static void name_holders(char *text, size_t size, const struct usb_node *node)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < node->holder_count && used < size; i++) {
        const struct usb_node_holder *holder = &node->holders[i];
        int length = snprintf(text + used, size - used, "%s%s (process %u)", i ? ", " : "",
                              holder->name[0] ? holder->name : "a program", holder->process);
        used += length > 0 ? (size_t)length : 0;
    }
    if (node->holder_count == 0)
        snprintf(text, size, "a program%s", node->hidden ? " of another user" : "");
}

/* True unless a program uses it. */
static bool check_holders(struct findings *findings, const struct usb_node *node)
{
    char holders[240];
    char advice[ADVICE_BYTES];
    name_holders(holders, sizeof holders, node);
    if (strcmp(node->driver, "usbfs") == 0) {
        findings_add(findings, FINDING_WARNING, "driver",
                     "the board is left alone; to examine it, stop that program first, with "
                     "`bustap ctl stop` if it is bustapd",
                     "in use by %s", holders);
        return false;
    }
    if (node->driver[0]) {
        snprintf(advice, sizeof advice,
                 "bustap detaches %.60s and reattaches it afterwards; separate ids in the board's "
                 "EEPROM prevent this",
                 node->driver);
        findings_add(findings, FINDING_WARNING, "driver", advice,
                     "the kernel's driver %s has the board%s%s", node->driver,
                     node->tty[0] ? ", as /dev/" : "", node->tty);
    } else {
        findings_add(findings, FINDING_OK, "driver", "", "no kernel driver has the board");
    }
    if (node->holder_count > 0)
        findings_add(findings, FINDING_WARNING, "programs",
                     "if the board cannot be opened, end that program",
                     "the board is also open in %s", holders);
    return true;
}

/* --- the chip's EEPROM --- */

static bool check_eeprom(struct findings *findings, const struct ftdi_diagnosis *board,
                         char channel)
{
    if (!board->eeprom_known) {
        findings_add(findings, FINDING_WARNING, "eeprom",
                     "if the board does not answer, check it with ftdi_eeprom",
                     "it cannot be read");
        return true;
    }
    bool fifo = ftdi_packets_fifo_mode(board->eeprom, board->device.release == FTDI_RELEASE_FT2232H,
                                       channel);
    findings_add(findings, fifo ? FINDING_OK : FINDING_PROBLEM, "eeprom",
                 fifo ? "" : "set it with ftdi_eeprom or FT_PROG, and plug the board in again",
                 "the first word is %04x: %s", board->eeprom,
                 fifo ? "245 FIFO mode" : "not 245 FIFO mode");
    return fifo;
}

bool check_board(struct findings *findings, const struct ftdi_diagnoses *found, size_t place,
                 char channel, const char *root)
{
    const struct ftdi_diagnosis *board = &found->boards[place];
    char description[240];
    snprintf(description, sizeof description, "%04x:%04x %.60s %.60s", board->device.vid,
             board->device.pid, board->device.manufacturer, board->device.product);
    findings_subject(findings, board->specification, description);
    bool usable = check_chip(findings, board, has_twin(found, place), channel);
    bool good = usable;
    good = check_port(findings, &board->device) && good;
    good = check_permission(findings, board, root) && good;
    good = check_holders(findings, &board->node) && good;
    if (!board->ours) {
        char advice[ADVICE_BYTES];
        snprintf(advice, sizeof advice,
                 "if it is one: bustap doctor %.128s; a line in /etc/udev/rules.d marks it "
                 "permanently",
                 board->specification);
        findings_add(findings, FINDING_WARNING, "ids", advice,
                     "bustap does not know these ids: the FTDI chip may not be a board, and is not "
                     "opened");
        return false;
    }
    /* the EEPROM of a board that is closed or in use was not read; other chips' words differ */
    if (usable && board->device.open_error == 0 && strcmp(board->node.driver, "usbfs") != 0)
        good = check_eeprom(findings, board, channel) && good;
    return good;
}
