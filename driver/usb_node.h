/*
 * The system's view of one USB device, from /sys, /dev, /proc and udevd's database. Nothing is sent
 * to the device, so that a program that uses it is not disturbed.
 */
#ifndef DRIVER_USB_NODE_H
#define DRIVER_USB_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USB_NODE_HOLDERS    8u
#define USB_NODE_NAME_BYTES 64u

/* A process that has the node open. */
struct usb_node_holder {
    unsigned process;
    char name[USB_NODE_NAME_BYTES]; /* empty if it cannot be read */
};

struct usb_node {
    char path[40]; /* "/dev/bus/usb/001/004" */
    bool exists;
    unsigned mode; /* permission bits */
    char owner[USB_NODE_NAME_BYTES], group[USB_NODE_NAME_BYTES];
    bool in_group; /* this process is in the node's group */
    bool open;     /* this process may read and write it */

    /* The kernel's driver of the interface, empty: none; "usbfs": a program has claimed it. */
    char driver[USB_NODE_NAME_BYTES];
    char tty[USB_NODE_NAME_BYTES]; /* "ttyUSB0", if that driver made one */

    bool identified; /* udevd's rules say ID_BUSTAP=1 */

    char manufacturer[USB_NODE_NAME_BYTES], product[USB_NODE_NAME_BYTES],
        serial[USB_NODE_NAME_BYTES]; /* as the kernel read them when it was plugged in */

    struct usb_node_holder holders[USB_NODE_HOLDERS]; /* other processes */
    size_t holder_count;                              /* there may be more */
    bool hidden; /* some processes' descriptors could not be read */
};

/* Fills *node; fields that cannot be read stay empty. interface is 0 for channel A, 1 for B. root
 * is a prefix of all paths, "" for this machine. */
void usb_node_read(struct usb_node *node, const char *root, uint8_t bus, uint8_t address,
                   unsigned interface);

#endif
