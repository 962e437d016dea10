#include "driver/ftdi.h"

#include "driver/ftdi_devices.h"
#include "driver/ftdi_packets.h"
#include "driver/ftdi_ring.h"
#include "formats/base/clock.h"

#include <ftdi.h>
#include <stdio.h>
#include <stdlib.h>

#define LATENCY_MS        16   /* few wake-ups; the board flushes part-filled frames. Never 1 */
#define WRITE_BYTES       4096 /* in one transfer */
#define HIGH_SPEED_PACKET 512  /* bytes; a full-speed port has 64 */

struct ftdi_stream {
    struct stream stream; /* first */
    struct ftdi_context *ftdi;
    struct ftdi_ring *ring;
    bool open;
    char channel;
    char name[160];
    char specification[256];
};

static long ftdi_stream_read(struct stream *stream, uint8_t *bytes, size_t capacity, int timeout_ms,
                             struct bt_error *error)
{
    return ftdi_ring_read(((struct ftdi_stream *)stream)->ring, bytes, capacity, timeout_ms, error);
}

/* Commands are short and rare: synchronous transfers, usually one, while the ring keeps running. */
static int ftdi_stream_write(struct stream *stream, const uint8_t *bytes, size_t size,
                             int timeout_ms, struct bt_error *error)
{
    struct ftdi_stream *self = (struct ftdi_stream *)stream;
    int64_t deadline = clock_monotonic_ms() + timeout_ms;
    while (size > 0) {
        int written = 0;
        int part = size < WRITE_BYTES ? (int)size : WRITE_BYTES;
        unsigned left = 0; /* to libusb: for ever */
        if (timeout_ms >= 0) {
            int64_t until = deadline - clock_monotonic_ms();
            left = until > 0 ? (unsigned)until : 1;
        }
        /* libftdi names endpoints from the chip's side: the host writes to in_ep */
        int result = libusb_bulk_transfer(self->ftdi->usb_dev, (unsigned char)self->ftdi->in_ep,
                                          (unsigned char *)bytes, part, &written, left);
        if (result == LIBUSB_ERROR_NO_DEVICE)
            return bt_fail(error, BT_CLOSED, "board %s was unplugged", self->name);
        if (result < 0 && result != LIBUSB_ERROR_TIMEOUT)
            return bt_fail(error, BT_DEVICE, "board %s: a command cannot be sent: %s", self->name,
                           libusb_error_name(result));
        bytes += written;
        size -= (size_t)written;
        if (size > 0 && timeout_ms >= 0 && clock_monotonic_ms() >= deadline)
            return bt_fail(error, BT_TIMEOUT, "board %s accepts no commands", self->name);
    }
    return 0;
}

static const char *ftdi_stream_name(struct stream *stream)
{
    return ((struct ftdi_stream *)stream)->name;
}

static const char *ftdi_stream_specification(struct stream *stream)
{
    return ((struct ftdi_stream *)stream)->specification;
}

static void ftdi_stream_close(struct stream *stream)
{
    struct ftdi_stream *self = (struct ftdi_stream *)stream;
    if (ftdi_ring_free(self->ring) < 0)
        return; /* libusb still uses the handle */
    if (self->open) {
        /* a chip left in synchronous mode hangs the next program */
        (void)ftdi_set_bitmode(self->ftdi, 0, BITMODE_RESET);
        (void)ftdi_usb_close(self->ftdi); /* re-attaches the kernel's driver */
    }
    if (self->ftdi)
        ftdi_free(self->ftdi);
    free(self);
}

static int failed(struct ftdi_stream *self, const char *what, struct bt_error *error)
{
    return bt_fail(error, BT_DEVICE, "board %s: %s: %s", self->name, what,
                   ftdi_get_error_string(self->ftdi));
}

/* Finds the device and claims it. */
static int open_device(struct ftdi_stream *self, const struct ftdi_options *options, int *speed,
                       struct bt_error *error)
{
    struct ftdi_device device;
    libusb_device **list;
    ssize_t count = libusb_get_device_list(self->ftdi->usb_ctx, &list);
    if (count < 0)
        return bt_fail(error, BT_DEVICE, "USB devices cannot be listed: %s",
                       libusb_error_name((int)count));
    int result = 0;
    libusb_device *usb = ftdi_device_find(list, (size_t)count, options, &device, error);
    if (!usb) {
        result = BT_DEVICE;
        goto out;
    }
    *speed = device.speed;
    snprintf(self->name, sizeof self->name, "%.60s%s%.60s",
             device.product[0] ? device.product : "FTDI", device.serial[0] ? " serial " : "",
             device.serial);
    ftdi_device_specification(&device, options->channel, self->specification,
                              sizeof self->specification);
    /* libusb detaches and claims in one step, without a race; closing re-attaches */
    self->ftdi->module_detach_mode = AUTO_DETACH_REATACH_SIO_MODULE;
    ftdi_set_interface(self->ftdi, options->channel == 'B' ? INTERFACE_B : INTERFACE_A);
    int code = ftdi_usb_open_dev(self->ftdi, usb);
    self->open = code == 0;
    if (code == -5)
        result = bt_fail(error, BT_BUSY,
                         "board %s is in use by another program, "
                         "or by a kernel driver that cannot be detached",
                         self->name);
    else if (code < 0)
        result = failed(self, "it cannot be opened", error);
out:
    libusb_free_device_list(list, 1);
    return result;
}

static int check_device(struct ftdi_stream *self, int speed, struct bt_error *error)
{
    enum ftdi_chip_type type = self->ftdi->type;
    unsigned short word;
    if (type != TYPE_232H && type != TYPE_2232H)
        return bt_fail(
            error, BT_DEVICE,
            "board %s has an FTDI chip without synchronous FIFO; an FT232H or FT2232H is "
            "needed",
            self->name);
    if (self->channel == 'B' && type != TYPE_2232H)
        return bt_fail(error, BT_USAGE, "board %s has no channel B", self->name);
    if (speed == LIBUSB_SPEED_LOW || speed == LIBUSB_SPEED_FULL ||
        self->ftdi->max_packet_size < HIGH_SPEED_PACKET)
        return bt_fail(error, BT_DEVICE,
                       "board %s is plugged into a slow port: %s, %u-byte packets; use a USB 2 or "
                       "USB 3 port, without an old hub between",
                       self->name, ftdi_device_speed(speed), self->ftdi->max_packet_size);
    /* if it cannot be read, the board's answer shows whether the mode is right */
    if (ftdi_read_eeprom_location(self->ftdi, 0, &word) == 0 &&
        !ftdi_packets_fifo_mode(word, type == TYPE_2232H, self->channel))
        return bt_fail(error, BT_DEVICE,
                       "board %s: the EEPROM of its USB chip is not set to 245 FIFO mode; set it "
                       "with ftdi_eeprom or FT_PROG",
                       self->name);
    return 0;
}

static int configure(struct ftdi_stream *self, struct bt_error *error)
{
    if (ftdi_set_bitmode(self->ftdi, 0, BITMODE_RESET) < 0)
        return failed(self, "its mode cannot be reset", error);
    if (ftdi_set_latency_timer(self->ftdi, LATENCY_MS) < 0)
        return failed(self, "its latency timer cannot be set", error);
    if (ftdi_setflowctrl(self->ftdi, SIO_RTS_CTS_HS) < 0)
        return failed(self, "its flow control cannot be set", error);
    if (ftdi_tcioflush(self->ftdi) < 0)
        return failed(self, "its buffers cannot be emptied", error);
    return 0;
}

static int start(struct ftdi_stream *self, struct bt_error *error)
{
    self->ring =
        ftdi_ring_new(self->ftdi->usb_ctx, self->ftdi->usb_dev, (uint8_t)self->ftdi->out_ep,
                      self->ftdi->max_packet_size, self->name, error);
    if (!self->ring)
        return error->code;
    int result = ftdi_ring_start(self->ring, error);
    if (result < 0)
        return result;
    /* after the transfers are queued, or the first milliseconds are lost. Channel B has no such
     * mode: with the EEPROM's 245 FIFO it is asynchronous, and slower */
    if (self->channel == 'A' && ftdi_set_bitmode(self->ftdi, 0xff, BITMODE_SYNCFF) < 0)
        return failed(self, "synchronous FIFO mode cannot be set", error);
    return 0;
}

int ftdi_open(struct stream **stream, const char *options, struct bt_error *error)
{
    static const struct stream_operations operations = {.read = ftdi_stream_read,
                                                        .write = ftdi_stream_write,
                                                        .name = ftdi_stream_name,
                                                        .specification = ftdi_stream_specification,
                                                        .close = ftdi_stream_close};
    struct bt_error own = {0};
    struct ftdi_options parsed;
    int speed = LIBUSB_SPEED_UNKNOWN;
    error = error ? error : &own;
    int result = ftdi_options_parse(&parsed, options ? options : "", error);
    if (result < 0)
        return result;
    struct ftdi_stream *self = calloc(1, sizeof *self);
    if (!self)
        return bt_fail(error, BT_MEMORY, "no memory for a board");
    self->stream.operations = &operations;
    self->channel = parsed.channel;
    self->ftdi = ftdi_new();
    if (!self->ftdi)
        result = bt_fail(error, BT_DEVICE, "USB cannot be used on this machine");
    if (result == 0)
        result = open_device(self, &parsed, &speed, error);
    if (result == 0)
        result = check_device(self, speed, error);
    if (result == 0)
        result = configure(self, error);
    if (result == 0)
        result = start(self, error);
    if (result == 0)
        *stream = &self->stream;
    else
        ftdi_stream_close(&self->stream);
    return result;
}
