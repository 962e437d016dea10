#include "driver/ftdi.h"
#include "driver/ftdi_devices.h"

#include <stdio.h>
#include <stdlib.h>

static void describe(struct board_listing *listing, const struct ftdi_device *device)
{
    _Static_assert(sizeof listing->specification == FTDI_SPECIFICATION_BYTES, "one size");
    ftdi_device_short_specification(device, listing->specification);
    if (device->open_error < 0)
        snprintf(listing->description, sizeof listing->description,
                 "%04x:%04x, cannot be opened: %s", device->vid, device->pid,
                 device->open_error == LIBUSB_ERROR_ACCESS ? "no permission"
                                                           : libusb_error_name(device->open_error));
    else
        snprintf(listing->description, sizeof listing->description, "%.40s %.40s, serial %.30s, %s",
                 device->manufacturer, device->product, device->serial[0] ? device->serial : "none",
                 ftdi_device_speed(device->speed));
}

int ftdi_list(struct board_listing **listings, size_t *count, struct bt_error *error)
{
    const struct ftdi_options any = {.channel = 'A'};
    libusb_context *context;
    libusb_device **devices;
    *listings = NULL;
    *count = 0;
    if (libusb_init(&context) < 0)
        return 0; /* a machine without USB has no boards */
    ssize_t total = libusb_get_device_list(context, &devices);
    int result = 0;
    if (total > 0) {
        *listings = calloc((size_t)total, sizeof **listings);
        if (!*listings)
            result = bt_fail(error, BT_MEMORY, "no memory for a list of boards");
    }
    for (ssize_t i = 0; *listings && i < total; i++) {
        struct ftdi_device device;
        if (!ftdi_device_possible(&any, devices[i]) && !ftdi_device_resembles(devices[i]))
            continue;
        ftdi_device_read(&device, devices[i]);
        describe(&(*listings)[(*count)++], &device);
    }
    if (total >= 0)
        libusb_free_device_list(devices, 1);
    libusb_exit(context);
    return result;
}
