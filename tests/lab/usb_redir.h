/*
 * Connects a chip to QEMU's usb-redir: plugs it in and out, and carries its transfers. For one
 * thread.
 */
#ifndef TESTS_LAB_USB_REDIR_H
#define TESTS_LAB_USB_REDIR_H

#include "tests/lab/ftdi_chip.h"

struct usb_redir;

/* Takes over socket, connected to QEMU and non-blocking. The caller owns chip. NULL if memory is
 * insufficient. */
struct usb_redir *usb_redir_new(int socket, struct ftdi_chip *chip);
void usb_redir_free(struct usb_redir *redir);

/* Plugs the chip in, or out. Plugging out cancels all transfers; a later plugging in waits until
 * QEMU has acknowledged that. */
void usb_redir_plug(struct usb_redir *redir, bool plugged);

/* Moves packets from and to the chip while transfers are queued. Returns whether any moved. */
bool usb_redir_pump(struct usb_redir *redir, int64_t now_ns);

/* Reads and writes the socket without waiting. False after QEMU has closed it. */
bool usb_redir_service(struct usb_redir *redir);

/* The socket, to be polled for reading and, if wants_write, for writing. */
int usb_redir_socket(const struct usb_redir *redir);
bool usb_redir_wants_write(const struct usb_redir *redir);

/* Number of queued transfers of the guest that read from channel A. */
unsigned usb_redir_queued(const struct usb_redir *redir);

#endif
