#include "driver/ftdi_devices.h"

#include <stdio.h>
#include <string.h>

/* Makes a device's string safe for a terminal. */
static void read_string(libusb_device_handle *handle, uint8_t index, char text[64])
{
    unsigned char bytes[64];
    memset(text, 0, 64);
    int size = index ? libusb_get_string_descriptor_ascii(handle, index, bytes, sizeof bytes) : 0;
    for (int i = 0; i < size && i < 63 && bytes[i]; i++)
        text[i] = (char)(bytes[i] < 0x20 || bytes[i] > 0x7e ? '?' : bytes[i]);
}

static unsigned packet_bytes(libusb_device *usb)
{
    struct libusb_config_descriptor *config;
    unsigned bytes = 0;
    if (libusb_get_config_descriptor(usb, 0, &config) < 0)
        return 0;
    if (config->bNumInterfaces > 0 && config->interface[0].num_altsetting > 0 &&
        config->interface[0].altsetting[0].bNumEndpoints > 0)
        bytes = config->interface[0].altsetting[0].endpoint[0].wMaxPacketSize;
    libusb_free_config_descriptor(config);
    return bytes;
}

void ftdi_device_read(struct ftdi_device *device, libusb_device *usb)
{
    struct libusb_device_descriptor descriptor;
    libusb_device_handle *handle;
    *device = (struct ftdi_device){.speed = libusb_get_device_speed(usb),
                                   .packet_bytes = packet_bytes(usb),
                                   .bus = libusb_get_bus_number(usb),
                                   .address = libusb_get_device_address(usb)};
    if (libusb_get_device_descriptor(usb, &descriptor) < 0)
        return;
    device->vid = descriptor.idVendor;
    device->pid = descriptor.idProduct;
    device->release = descriptor.bcdDevice;
    const struct ftdi_options own = {.channel = 'A'};
    device->private_ids = !ftdi_options_match(&own, device->vid, device->pid, "", "");
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

static bool bulk_endpoint(const struct libusb_interface_descriptor *setting, int number,
                          uint8_t address)
{
    const struct libusb_endpoint_descriptor *endpoint = &setting->endpoint[number];
    return endpoint->bEndpointAddress == address &&
           (endpoint->bmAttributes & LIBUSB_TRANSFER_TYPE_MASK) == LIBUSB_TRANSFER_TYPE_BULK;
}

/* FTDI chips have vendor-specific classes and one bulk endpoint in each direction. */
static bool resembling_interface(const struct libusb_config_descriptor *config, int interfaces)
{
    if (config->bNumInterfaces != interfaces || config->interface[0].num_altsetting != 1)
        return false;
    const struct libusb_interface_descriptor *setting = &config->interface[0].altsetting[0];
    return setting->bInterfaceClass == LIBUSB_CLASS_VENDOR_SPEC &&
           setting->bInterfaceSubClass == LIBUSB_CLASS_VENDOR_SPEC &&
           setting->bInterfaceProtocol == LIBUSB_CLASS_VENDOR_SPEC && setting->bNumEndpoints == 2 &&
           bulk_endpoint(setting, 0, 0x81) && bulk_endpoint(setting, 1, 0x02);
}

bool ftdi_device_resembles(libusb_device *usb)
{
    struct libusb_device_descriptor descriptor;
    struct libusb_config_descriptor *config;
    if (libusb_get_device_descriptor(usb, &descriptor) < 0)
        return false;
    int interfaces = descriptor.bcdDevice == FTDI_RELEASE_FT2232H  ? 2
                     : descriptor.bcdDevice == FTDI_RELEASE_FT232H ? 1
                                                                   : 0;
    if (interfaces == 0 || descriptor.bDeviceClass != LIBUSB_CLASS_PER_INTERFACE ||
        descriptor.bNumConfigurations != 1 || libusb_get_config_descriptor(usb, 0, &config) < 0)
        return false;
    bool resembles = resembling_interface(config, interfaces);
    libusb_free_config_descriptor(config);
    return resembles;
}

void ftdi_device_short_specification(const struct ftdi_device *device,
                                     char text[FTDI_SPECIFICATION_BYTES])
{
    /* a serial number with a comma could not be written as an option */
    bool serial = device->serial[0] && !strchr(device->serial, ',');
    char ids[32] = "";
    if (device->private_ids || !serial)
        snprintf(ids, sizeof ids, "vid=%04x,pid=%04x%s", device->vid, device->pid,
                 serial ? "," : "");
    snprintf(text, FTDI_SPECIFICATION_BYTES, "ftdi:%s%s%s", ids, serial ? "serial=" : "",
             serial ? device->serial : "");
}

static int not_found(const struct ftdi_options *options, const struct ftdi_device *unreadable,
                     struct bt_error *error)
{
    if (unreadable->open_error == LIBUSB_ERROR_ACCESS)
        return bt_fail(error, BT_DEVICE,
                       "no permission for the FTDI device %04x:%04x; the udev rules "
                       "60-bustap.rules, which identifies boards%s, and 61-bustap-access.rules, "
                       "which opens them, grant it; `bustap doctor` says what is missing",
                       unreadable->vid, unreadable->pid,
                       unreadable->private_ids ? " and needs a line for these ids" : "");
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
                    "more than one FTDI board matches, with serial numbers %s and %s; name one: "
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

void ftdi_device_specification(const struct ftdi_device *device, char channel, char *text,
                               size_t size)
{
    /* a serial number with a comma could not be written as an option */
    bool named = device->serial[0] && !strchr(device->serial, ',');
    snprintf(text, size, "ftdi:vid=%04x,pid=%04x,channel=%c%s%s", device->vid, device->pid, channel,
             named ? ",serial=" : "", named ? device->serial : "");
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
