#define _DEFAULT_SOURCE /* d_name of any length, S_IFMT */
#include "driver/usb_node.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES  512u
#define DEVICES     "/sys/bus/usb/devices"
#define USB_MAJOR   189u /* of the nodes: Documentation/admin-guide/devices.txt */
#define BUS_DEVICES 128u /* minor numbers a bus has */
#define GROUPS_MAX  256

/* The first line of a file, at most size - 1 bytes, made safe for a terminal; empty if it cannot be
 * read. */
static void read_line(char *line, size_t size, const char *path)
{
    FILE *file = fopen(path, "re");
    line[0] = '\0';
    if (!file)
        return;
    if (!fgets(line, (int)size, file))
        line[0] = '\0';
    fclose(file);
    line[strcspn(line, "\n")] = '\0';
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
            *c = '?';
}

/* The last component of a symbolic link's target; empty if there is no link. */
static void read_link_name(char name[USB_NODE_NAME_BYTES], const char *path)
{
    char target[PATH_BYTES];
    ssize_t length = readlink(path, target, sizeof target - 1);
    name[0] = '\0';
    if (length < 0)
        return;
    target[length] = '\0';
    const char *last = strrchr(target, '/');
    snprintf(name, USB_NODE_NAME_BYTES, "%.63s", last ? last + 1 : target);
}

static bool all_digits(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && text[digits] == '\0';
}

/* --- the node --- */

static bool in_group(gid_t group)
{
    gid_t groups[GROUPS_MAX];
    int count = getgroups(GROUPS_MAX, groups);
    for (int i = 0; i < count; i++)
        if (groups[i] == group)
            return true;
    return getegid() == group;
}

static void read_node(struct usb_node *node, const char *root)
{
    char path[PATH_BYTES];
    struct stat status;
    snprintf(path, sizeof path, "%s%s", root, node->path);
    if (stat(path, &status) != 0)
        return;
    node->exists = true;
    node->mode = status.st_mode & 07777;
    node->open = access(path, R_OK | W_OK) == 0;
    node->in_group = in_group(status.st_gid);
    const struct passwd *owner = getpwuid(status.st_uid);
    const struct group *group = getgrgid(status.st_gid);
    snprintf(node->owner, sizeof node->owner, "%u", (unsigned)status.st_uid);
    snprintf(node->group, sizeof node->group, "%u", (unsigned)status.st_gid);
    if (owner)
        snprintf(node->owner, sizeof node->owner, "%.63s", owner->pw_name);
    if (group)
        snprintf(node->group, sizeof node->group, "%.63s", group->gr_name);
}

/* --- udevd's database --- */

static void read_notes(struct usb_node *node, const char *root, unsigned minor)
{
    char path[PATH_BYTES];
    char line[256];
    snprintf(path, sizeof path, "%s/run/udev/data/c%u:%u", root, USB_MAJOR, minor);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    while (fgets(line, sizeof line, file))
        if (strcmp(line, "E:ID_BUSTAP=1\n") == 0)
            node->identified = true;
    fclose(file);
}

/* --- the kernel's view --- */

static unsigned read_number(const char *folder, const char *device, const char *name)
{
    char path[PATH_BYTES];
    char line[16];
    snprintf(path, sizeof path, "%s/%.60s/%s", folder, device, name);
    read_line(line, sizeof line, path);
    return (unsigned)strtoul(line, NULL, 10);
}

static void read_tty(struct usb_node *node, const char *folder)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    while (entries && (entry = readdir(entries)))
        if (strncmp(entry->d_name, "tty", 3) == 0 && isupper((unsigned char)entry->d_name[3]))
            snprintf(node->tty, sizeof node->tty, "%.63s", entry->d_name);
    if (entries)
        closedir(entries);
}

/* device is "1-4.2". */
static void read_device(struct usb_node *node, const char *folder, const char *device,
                        unsigned interface)
{
    char path[PATH_BYTES];
    const struct {
        const char *name;
        char *text;
    } strings[] = {
        {"manufacturer", node->manufacturer}, {"product", node->product}, {"serial", node->serial}};
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
        snprintf(path, sizeof path, "%s/%.60s/%s", folder, device, strings[i].name);
        read_line(strings[i].text, USB_NODE_NAME_BYTES, path);
    }
    snprintf(path, sizeof path, "%s/%.60s:1.%u/driver", folder, device, interface);
    read_link_name(node->driver, path);
    snprintf(path, sizeof path, "%s/%.60s:1.%u", folder, device, interface);
    read_tty(node, path);
}

static void find_device(struct usb_node *node, const char *root, uint8_t bus, uint8_t address,
                        unsigned interface)
{
    char folder[PATH_BYTES / 2];
    snprintf(folder, sizeof folder, "%s" DEVICES, root);
    DIR *devices = opendir(folder);
    const struct dirent *entry;
    while (devices && (entry = readdir(devices))) {
        const char *name = entry->d_name;
        /* interfaces have a colon */
        if (name[0] == '.' || strchr(name, ':') || read_number(folder, name, "busnum") != bus ||
            read_number(folder, name, "devnum") != address)
            continue;
        read_device(node, folder, name, interface);
        break;
    }
    if (devices)
        closedir(devices);
}

/* --- processes that have it open --- */

static bool has_open(const struct usb_node *node, const char *folder, bool *hidden)
{
    bool found = false;
    DIR *files = opendir(folder);
    const struct dirent *entry;
    if (!files)
        *hidden = *hidden || errno == EACCES;
    while (files && !found && (entry = readdir(files))) {
        char path[PATH_BYTES];
        char target[sizeof node->path + 1];
        snprintf(path, sizeof path, "%s/%.20s", folder, entry->d_name);
        ssize_t length = readlink(path, target, sizeof target);
        found = length == (ssize_t)strlen(node->path) &&
                memcmp(target, node->path, (size_t)length) == 0;
    }
    if (files)
        closedir(files);
    return found;
}

static void find_holders(struct usb_node *node, const char *root)
{
    char path[PATH_BYTES / 2];
    char own[16];
    snprintf(own, sizeof own, "%ld", (long)getpid());
    snprintf(path, sizeof path, "%s/proc", root);
    DIR *processes = opendir(path);
    const struct dirent *entry;
    while (processes && node->holder_count < USB_NODE_HOLDERS && (entry = readdir(processes))) {
        const char *process = entry->d_name;
        if (!all_digits(process) || strcmp(process, own) == 0)
            continue;
        snprintf(path, sizeof path, "%s/proc/%.20s/fd", root, process);
        if (!has_open(node, path, &node->hidden))
            continue;
        struct usb_node_holder *holder = &node->holders[node->holder_count++];
        holder->process = (unsigned)strtoul(process, NULL, 10);
        snprintf(path, sizeof path, "%s/proc/%.20s/comm", root, process);
        read_line(holder->name, sizeof holder->name, path);
    }
    if (processes)
        closedir(processes);
}

void usb_node_read(struct usb_node *node, const char *root, uint8_t bus, uint8_t address,
                   unsigned interface)
{
    *node = (struct usb_node){.exists = false};
    snprintf(node->path, sizeof node->path, "/dev/bus/usb/%03u/%03u", bus, address);
    read_node(node, root);
    if (bus > 0 && address > 0)
        read_notes(node, root, (bus - 1u) * BUS_DEVICES + address - 1u);
    find_device(node, root, bus, address, interface);
    find_holders(node, root);
}
