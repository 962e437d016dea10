/*
 * A ring of USB transfers that are kept queued, so that the chip never waits for the host. It uses
 * libusb's asynchronous interface and an event thread. The callback only hands a full buffer to the
 * reader and queues the transfer again with an empty one.
 */
#ifndef DRIVER_FTDI_RING_H
#define DRIVER_FTDI_RING_H

#include "formats/base/error.h"

#include <libusb.h>
#include <stddef.h>
#include <stdint.h>

#define FTDI_RING_TRANSFERS      64u
#define FTDI_RING_TRANSFERS_MIN  4u
#define FTDI_RING_TRANSFER_BYTES (128u * 1024u) /* with 64 of them, 200 ms at 40 MB/s */

/*
 * The number of transfers to queue: at most `wanted`, and at most three quarters of limit_mib, the
 * kernel's limit in MiB for all USB transfers of the system (0: no limit). 0 if that is less than
 * FTDI_RING_TRANSFERS_MIN.
 */
size_t ftdi_ring_clamp(size_t wanted, size_t transfer_bytes, unsigned limit_mib);

/* The kernel's limit for all USB transfers of the system in MiB, 0 for none. root is a prefix of
 * the file's path, "" for this machine. */
#define FTDI_RING_LIMIT_FILE "/sys/module/usbcore/parameters/usbfs_memory_mb"
unsigned ftdi_ring_limit_mib(const char *root);

/* Halves `wanted` until it is at most `got`: the number of transfers to keep queued after the
 * kernel had memory for `got`. 0 if that is less than FTDI_RING_TRANSFERS_MIN. */
size_t ftdi_ring_halve(size_t wanted, size_t got);

struct ftdi_ring;

/*
 * Allocates everything (16 MiB of buffers) and starts the event thread. endpoint is the one to
 * read, packet_bytes its packet size; name is for messages and is copied. NULL and *error
 * on failure.
 */
struct ftdi_ring *ftdi_ring_new(libusb_context *context, libusb_device_handle *handle,
                                uint8_t endpoint, size_t packet_bytes, const char *name,
                                struct bt_error *error);

/* For tests: longest silence of the chip while transfers are queued, 3 s by default. Set it before
 * the start.
 */
void ftdi_ring_set_silence(struct ftdi_ring *ring, int milliseconds);

/* Queues the transfers. 0 or a negative code; the ring can then only be freed. */
int ftdi_ring_start(struct ftdi_ring *ring, struct bt_error *error);

/*
 * Reads at most capacity bytes of data, without status bytes; waits up to timeout_ms (< 0: for
 * ever) for the first. Returns the number of bytes (> 0); BT_TIMEOUT; BT_CLOSED if the device was
 * unplugged; BT_DEVICE if consecutive transfers fail, libusb fails, or the chip is silent: even an
 * idle chip sends its status each latency period.
 */
long ftdi_ring_read(struct ftdi_ring *ring, uint8_t *bytes, size_t capacity, int timeout_ms,
                    struct bt_error *error);

/*
 * Cancels the transfers, waits for their callbacks and frees everything. Returns 0; or -1 if a
 * transfer never completed: then neither the device handle nor the context may be closed.
 */
int ftdi_ring_free(struct ftdi_ring *ring);

#endif
