/*
 * A USB that a test plays: it takes libusb's place in the program that is linked with it, for our
 * driver and for libftdi alike, so that both run unchanged. There is one, empty to begin with.
 */
#ifndef TESTS_SUPPORT_FAKE_USB_H
#define TESTS_SUPPORT_FAKE_USB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_USB_DEVICES 4u
#define FAKE_USB_BUS     250u /* the one all devices are on; their addresses are 1, 2, ... */

#define FAKE_USB_TWO_CHANNELS 0x0700 /* the chip that has them, an FT2232H */

struct fake_usb_device {
    uint16_t vid, pid, chip; /* chip: 0x0900 an FT232H, 0x0700 an FT2232H, 0x0600 an FT232R */
    const char *manufacturer, *product, *serial;
    int speed;       /* a libusb_speed */
    int open_error;  /* a libusb_error, or 0 */
    int claim_error; /* the same of its interface */
    bool refuses;    /* one control request: */
    uint8_t refused;
    uint16_t refused_value; /* only with this value; 0: any */
    uint16_t eeprom;        /* the word at 0 */
    bool foreign;           /* its interface is not an FTDI chip's */
    uint16_t packet_bytes;
};

struct fake_usb {
    struct fake_usb_device devices[FAKE_USB_DEVICES];
    size_t device_count;

    /* How it misbehaves. */
    int init_error;   /* there is no USB at all: a libusb_error */
    bool no_hotplug;  /* a context never sees devices that are plugged in after it was made */
    size_t queue_max; /* there is no memory for more transfers; 0: there is */
    int status;       /* transfers end with this libusb_transfer_status instead of bringing data */
    int submit_error; /* queueing a transfer returns this */
    int event_error;  /* waiting for events returns this at once */
    unsigned stopped; /* waiting for events takes so many milliseconds longer, once */
    bool silent;      /* the chip does not even send its status */
    bool unplugged;
    int write_error;
    size_t write_piece; /* bytes a write takes, in all the time it has; 0: all, at once */

    /* What it saw. */
    size_t queued;          /* transfers it has now */
    size_t transfers;       /* allocated and not freed */
    size_t handles, inits;  /* open, in use */
    unsigned opens;         /* attempts to open a device */
    unsigned contexts;      /* made */
    unsigned interrupts;    /* of who waits for events */
    unsigned cancelled;     /* transfers that were */
    unsigned waits;         /* for events */
    unsigned writes;        /* calls */
    unsigned write_time_ms; /* they were allowed, in all */
    uint8_t written[256];
    size_t written_size;
    uint16_t mode;   /* the last bit mode that was set: mode << 8 | mask */
    unsigned misuse; /* freed or closed what was in use */
};

/* The one USB there is, locked: nothing moves until it is given back. */
struct fake_usb *fake_usb_take(void);
void fake_usb_give(void);

/* Empties it: no device, no data, nothing that misbehaves. All must be closed. */
void fake_usb_reset(void);

/* Has the chip send bytes, in packets of packet_bytes that begin with two bytes of status. */
void fake_usb_send(const uint8_t *bytes, size_t size, size_t packet_bytes);

#endif
