#include "driver/ftdi_devices.h"

#include <string.h>

/* A string of a device must not reach a terminal as it is. */
static void read_string(libusb_device_handle *handle, uint8_t index, char text[64])
{
    unsigned char bytes[64];
    memset(text, 0, 64);
    int size = index ? libusb_get_string_descriptor_ascii(handle, index, bytes, sizeof bytes) : 0;
    for (int i = 0; i < size && i < 63 && bytes[i]; i++)
        text[i] = (char)(bytes[i] < 0x20 || bytes[i] > 0x7e ? '?' : bytes[i]);
}

void ftdi_device_read(struct ftdi_device *device, libusb_device *usb)
{
    struct libusb_device_descriptor descriptor;
    libusb_device_handle *handle;
    *device = (struct ftdi_device){.speed = libusb_get_device_speed(usb)};
    if (libusb_get_device_descriptor(usb, &descriptor) < 0)
        return;
    device->vid = descriptor.idVendor;
    device->pid = descriptor.idProduct;
    device->open_error = libusb_open(usb, &handle);
    if (device->open_error < 0)
        return;
    read_string(handle, descriptor.iManufacturer, device->manufacturer);
    read_string(handle, descriptor.iProduct, device->product);
    read_string(handle, descriptor.iSerialNumber, device->serial);
    libusb_close(handle);
}

bool ftdi_device_possible(const struct ftdi_options *options, libusb_device *usb)
{
    struct libusb_device_descriptor descriptor;
    struct ftdi_options ids = {
        .has_ids = options->has_ids, .vid = options->vid, .pid = options->pid};
    return libusb_get_device_descriptor(usb, &descriptor) == 0 &&
           ftdi_options_match(&ids, descriptor.idVendor, descriptor.idProduct, "", "");
}

static int not_found(const struct ftdi_options *options, const struct ftdi_device *unreadable,
                     struct bt_error *error)
{
    if (unreadable->open_error == LIBUSB_ERROR_ACCESS)
        return bt_fail(error, BT_DEVICE,
                       "no permission for the FTDI device %04x:%04x; a udev rule gives it: "
                       "SUBSYSTEM==\"usb\", ATTR{idVendor}==\"%04x\", ATTR{idProduct}==\"%04x\", "
                       "TAG+=\"uaccess\"",
                       unreadable->vid, unreadable->pid, unreadable->vid, unreadable->pid);
    if (unreadable->open_error < 0)
        return bt_fail(error, BT_DEVICE, "the FTDI device %04x:%04x cannot be opened: %s",
                       unreadable->vid, unreadable->pid, libusb_error_name(unreadable->open_error));
    if (options->serial[0])
        return bt_fail(error, BT_DEVICE,
                       "no FTDI board with serial number %s is plugged in; `bustap boards` lists "
                       "those that are",
                       options->serial);
    return bt_fail(error, BT_DEVICE,
                   "no such FTDI board is plugged in; `bustap boards` lists those that are");
}

libusb_device *ftdi_device_find(libusb_device **list, size_t count,
                                const struct ftdi_options *options, struct ftdi_device *found,
                                struct bt_error *error)
{
    libusb_device *match = NULL;
    struct ftdi_device unreadable = {0};
    for (size_t i = 0; i < count; i++) {
        struct ftdi_device device;
        if (!ftdi_device_possible(options, list[i]))
            continue;
        ftdi_device_read(&device, list[i]);
        if (device.open_error < 0) {
            unreadable = device;
            continue;
        }
        if (!ftdi_options_match(options, device.vid, device.pid, device.serial, device.product))
            continue;
        if (match) {
            bt_fail(error, BT_DEVICE,
                    "more than one FTDI board is meant, with serial numbers %s and %s; name one: "
                    "ftdi:serial=%s",
                    found->serial, device.serial, found->serial);
            return NULL;
        }
        match = list[i];
        *found = device;
    }
    if (!match)
        (void)not_found(options, &unreadable, error);
    return match;
}

const char *ftdi_device_speed(int speed)
{
    switch (speed) {
    case LIBUSB_SPEED_LOW:
        return "low speed (1.5 Mbit/s)";
    case LIBUSB_SPEED_FULL:
        return "full speed (12 Mbit/s)";
    case LIBUSB_SPEED_HIGH:
        return "high speed (480 Mbit/s)";
    case LIBUSB_SPEED_SUPER:
    case LIBUSB_SPEED_SUPER_PLUS:
        return "super speed";
    default:
        return "unknown speed";
    }
}
