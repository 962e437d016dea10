/*
 * A USB device at the end of a cable that leads to QEMU's usb-redir: plugs a chip in and out, and
 * carries its transfers. One thread.
 */
#ifndef TESTS_LAB_USB_REDIR_H
#define TESTS_LAB_USB_REDIR_H

#include "tests/lab/ftdi_chip.h"

struct usb_redir;

/* Takes over socket, connected to QEMU and not blocking. The chip is the caller's. NULL if there is
 * no memory. */
struct usb_redir *usb_redir_new(int socket, struct ftdi_chip *chip);
void usb_redir_free(struct usb_redir *redir);

/* Plugs the chip in, or out. Plugging out takes back all transfers; plugging in waits until QEMU
 * has seen that. */
void usb_redir_plug(struct usb_redir *redir, bool plugged);

/* Moves packets from and to the chip, as far as transfers are there for them. Returns whether
 * anything moved. */
bool usb_redir_pump(struct usb_redir *redir, int64_t now_ns);

/* Reads and writes the socket, as far as that does not wait. False once QEMU is gone. */
bool usb_redir_service(struct usb_redir *redir);

/* What to poll the socket for. */
int usb_redir_socket(const struct usb_redir *redir);
bool usb_redir_wants_write(const struct usb_redir *redir);

/* Whether the guest has transfers queued that read from channel A, and how many. */
unsigned usb_redir_queued(const struct usb_redir *redir);

#endif
