#include "driver/ftdi_diagnosis.h"

#include <stdlib.h>
#include <string.h>

#define READ_EEPROM        0x90 /* FTDI's request */
#define READ_EEPROM_TYPE   0xc0 /* of the device, so that no interface need be claimed */
#define CONTROL_TIMEOUT_MS 1000

/* If the device could not be opened: the strings that the kernel read when it was plugged in. */
static void complete_strings(struct ftdi_device *device, const struct usb_node *node)
{
    if (device->open_error == 0)
        return;
    _Static_assert(sizeof device->serial == sizeof node->serial, "one size");
    memcpy(device->manufacturer, node->manufacturer, sizeof device->manufacturer);
    memcpy(device->product, node->product, sizeof device->product);
    memcpy(device->serial, node->serial, sizeof device->serial);
}

static void read_eeprom(struct ftdi_diagnosis *board, libusb_device *usb)
{
    libusb_device_handle *handle;
    unsigned char word[2];
    if (libusb_open(usb, &handle) < 0)
        return;
    if (libusb_control_transfer(handle, READ_EEPROM_TYPE, READ_EEPROM, 0, 0, word, sizeof word,
                                CONTROL_TIMEOUT_MS) == (int)sizeof word) {
        board->eeprom_known = true;
        board->eeprom = (uint16_t)(word[0] | word[1] << 8);
    }
    libusb_close(handle);
}

/* Whether the options select this device. */
static bool examine(struct ftdi_diagnosis *board, libusb_device *usb,
                    const struct ftdi_options *options, const char *root)
{
    *board = (struct ftdi_diagnosis){.ours = false};
    ftdi_device_read(&board->device, usb);
    struct ftdi_device *device = &board->device;
    usb_node_read(&board->node, root, device->bus, device->address,
                  options && options->channel == 'B');
    complete_strings(device, &board->node);
    if (options &&
        !ftdi_options_match(options, device->vid, device->pid, device->serial, device->product))
        return false;
    if (options && options->channel == 'B')
        ftdi_device_specification(device, 'B', board->specification, sizeof board->specification);
    else
        ftdi_device_short_specification(device, board->specification);
    board->ours = options || !device->private_ids || board->node.identified;
    if (board->ours && device->open_error == 0 && strcmp(board->node.driver, "usbfs") != 0)
        read_eeprom(board, usb);
    return true;
}

int ftdi_diagnosis_list(struct ftdi_diagnoses *found, const struct ftdi_options *options,
                        const char *root, struct bt_error *error)
{
    const struct ftdi_options any = {.channel = 'A'};
    libusb_context *context;
    libusb_device **devices;
    *found = (struct ftdi_diagnoses){.boards = NULL, .count = 0, .devices = 0};
    int code = libusb_init(&context);
    if (code < 0)
        return bt_fail(error, BT_DEVICE, "USB cannot be used on this machine: %s",
                       libusb_error_name(code));
    int result = 0;
    ssize_t total = libusb_get_device_list(context, &devices);
    if (total < 0) {
        libusb_exit(context);
        return bt_fail(error, BT_DEVICE, "USB devices cannot be listed: %s",
                       libusb_error_name((int)total));
    }
    found->devices = (size_t)total;
    found->boards = calloc((size_t)total + 1, sizeof *found->boards);
    if (!found->boards)
        result = bt_fail(error, BT_MEMORY, "no memory for a list of boards");
    for (ssize_t i = 0; found->boards && i < total; i++) {
        bool possible = ftdi_device_possible(options ? options : &any, devices[i]) ||
                        (!options && ftdi_device_resembles(devices[i]));
        if (possible && examine(&found->boards[found->count], devices[i], options, root))
            found->count++;
    }
    libusb_free_device_list(devices, 1);
    libusb_exit(context);
    return result;
}

void ftdi_diagnoses_free(struct ftdi_diagnoses *found)
{
    free(found->boards);
    *found = (struct ftdi_diagnoses){.boards = NULL, .count = 0, .devices = 0};
}

const char *ftdi_diagnosis_chip(const struct ftdi_diagnosis *board)
{
    switch (board->device.release) {
    case FTDI_RELEASE_FT232H:
        return "FT232H";
    case FTDI_RELEASE_FT2232H:
        return "FT2232H";
    default:
        return NULL;
    }
}
