/*
 * A ring of USB transfers that are always queued, so that the chip never waits for the host:
 * libusb's asynchronous interface, with an event thread of its own. The callback only hands a full
 * buffer over and queues the transfer again with an empty one.
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
 * How many transfers may be queued where the kernel allows limit_mib MiB for all USB transfers of
 * the system (0: no limit), a quarter of which is left to others: wanted or fewer, 0 where not even
 * FTDI_RING_TRANSFERS_MIN are.
 */
size_t ftdi_ring_clamp(size_t wanted, size_t transfer_bytes, unsigned limit_mib);

/* The kernel's limit for all USB transfers of the system in MiB, 0 for none. root stands in front
 * of the file's path, "" for this machine's. */
#define FTDI_RING_LIMIT_FILE "/sys/module/usbcore/parameters/usbfs_memory_mb"
unsigned ftdi_ring_limit_mib(const char *root);

/* The half of half ... of wanted that is not above got: what to keep queued once the kernel had no
 * memory for more than got. 0 where that is less than FTDI_RING_TRANSFERS_MIN. */
size_t ftdi_ring_halve(size_t wanted, size_t got);

struct ftdi_ring;

/*
 * Allocates everything (16 MiB of buffers) and starts the event thread. endpoint is the one to
 * read, packet_bytes the size of its packets; name is for messages and is copied. NULL and *error
 * on failure.
 */
struct ftdi_ring *ftdi_ring_new(libusb_context *context, libusb_device_handle *handle,
                                uint8_t endpoint, size_t packet_bytes, const char *name,
                                struct bt_error *error);

/* How long the chip may say nothing while transfers wait for it: 3 s unless set, before the start.
 */
void ftdi_ring_set_silence(struct ftdi_ring *ring, int milliseconds);

/* Queues the transfers. 0 or a negative code; then the ring is of no use but must be freed. */
int ftdi_ring_start(struct ftdi_ring *ring, struct bt_error *error);

/*
 * Takes data, status bytes removed: at most capacity bytes, waiting up to timeout_ms (< 0: for
 * ever) for the first. Returns the bytes (> 0); BT_TIMEOUT; BT_CLOSED where the device was
 * unplugged; BT_DEVICE where transfers fail one after the other, libusb fails, or the chip has
 * fallen silent: even an idle one sends its status at each latency period.
 */
long ftdi_ring_read(struct ftdi_ring *ring, uint8_t *bytes, size_t capacity, int timeout_ms,
                    struct bt_error *error);

/*
 * Cancels the transfers and waits for their last callbacks, then frees everything. Returns 0; or -1
 * where a transfer never came back: then the device handle must not be closed, nor the context.
 */
int ftdi_ring_free(struct ftdi_ring *ring);

#endif
