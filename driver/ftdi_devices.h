/* The FTDI devices that are plugged in. */
#ifndef DRIVER_FTDI_DEVICES_H
#define DRIVER_FTDI_DEVICES_H

#include "driver/ftdi_options.h"

#include <libusb.h>

#define FTDI_RELEASE_FT2232H 0x0700 /* bcdDevice of the descriptor */
#define FTDI_RELEASE_FT232H  0x0900

struct ftdi_device {
    uint16_t vid, pid, release;
    uint8_t bus, address;
    bool private_ids;                               /* not FTDI's own */
    char manufacturer[64], product[64], serial[64]; /* empty if they cannot be read */
    int speed;                                      /* a libusb_speed */
    unsigned packet_bytes;                          /* of the first endpoint; 0: not known */
    int open_error;                                 /* the libusb_error of opening it, or 0 */
};

#define FTDI_SPECIFICATION_BYTES 128u

/* The specification that opens the device: "ftdi:serial=S", or with ids if they are private or
 * there is no serial number. */
void ftdi_device_short_specification(const struct ftdi_device *device,
                                     char text[FTDI_SPECIFICATION_BYTES]);

/* Reads descriptors and strings of a device; opens it briefly. */
void ftdi_device_read(struct ftdi_device *device, libusb_device *usb);

/*
 * The only device in the list (of count) that options select, with its description in *found; or
 * NULL and *error.
 */
libusb_device *ftdi_device_find(libusb_device **list, size_t count,
                                const struct ftdi_options *options, struct ftdi_device *found,
                                struct bt_error *error);

/* The specification that selects exactly this device: its ids, its serial number if it has one that
 * can be written, and the channel. */
void ftdi_device_specification(const struct ftdi_device *device, char channel, char *text,
                               size_t size);

/* "high speed (480 Mbit/s)", ... */
const char *ftdi_device_speed(int speed);

/*
 * Whether the descriptors are those of a chip that can be a board, whatever its ids: release and
 * interface of an FT232H or FT2232H. Sends nothing to the device; the kernel has its descriptors.
 */
bool ftdi_device_resembles(libusb_device *usb);

/* Whether the ids are those of options, or of the chips that can be a board. */
bool ftdi_device_possible(const struct ftdi_options *options, libusb_device *usb);

#endif
