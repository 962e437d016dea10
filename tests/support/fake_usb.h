/*
 * A USB that a test controls: replaces libusb in the program that it is linked with, for our
 * driver and for libftdi, so that both run unchanged. There is one, initially empty.
 */
#ifndef TESTS_SUPPORT_FAKE_USB_H
#define TESTS_SUPPORT_FAKE_USB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_USB_DEVICES 4u
#define FAKE_USB_BUS     250u /* the bus of all devices; their addresses are 1, 2, ... */

#define FAKE_USB_TWO_CHANNELS 0x0700 /* the chip that has them, an FT2232H */

struct fake_usb_device {
    uint16_t vid, pid, chip; /* chip: 0x0900 an FT232H, 0x0700 an FT2232H, 0x0600 an FT232R */
    const char *manufacturer, *product, *serial;
    int speed;       /* enum libusb_speed */
    int open_error;  /* enum libusb_error, or 0 */
    int claim_error; /* of its interface: enum libusb_error, or 0 */
    bool refuses;    /* refuses the control request `refused` */
    uint8_t refused;
    uint16_t refused_value; /* only with this value; 0: with any */
    uint16_t eeprom;        /* word 0 of its EEPROM */
    bool foreign;           /* the interface is not that of an FTDI chip */
    uint16_t packet_bytes;
};

struct fake_usb {
    struct fake_usb_device devices[FAKE_USB_DEVICES];
    size_t device_count;

    /* Faults. */
    int init_error;   /* there is no USB: enum libusb_error */
    bool no_hotplug;  /* a context never sees devices that are plugged in after it was made */
    size_t queue_max; /* maximum number of transfers queued; 0: no limit */
    int status;       /* enum libusb_transfer_status: transfers end with it and bring no data */
    int submit_error; /* result of queueing a transfer */
    int event_error;  /* immediate result of waiting for events */
    unsigned stopped; /* milliseconds added to the next wait for events */
    bool silent;      /* the chip does not even send its status */
    bool unplugged;
    int write_error;
    size_t write_piece; /* total bytes that a write accepts; 0: all, at once */

    /* What it observed. */
    size_t queued;          /* transfers in the queue */
    size_t transfers;       /* allocated and not freed */
    size_t handles, inits;  /* open handles, contexts in use */
    unsigned opens;         /* attempts to open a device */
    unsigned contexts;      /* contexts made */
    unsigned interrupts;    /* number of times that waiting was interrupted */
    unsigned cancelled;     /* cancelled transfers */
    unsigned waits;         /* number of waits for events */
    unsigned writes;        /* number of writes */
    unsigned write_time_ms; /* sum of their timeouts */
    uint8_t written[256];
    size_t written_size;
    uint16_t mode;   /* last bit mode set: mode << 8 | mask */
    unsigned misuse; /* number of objects freed or closed while in use */
};

/* Locks and returns the one USB: nothing changes until fake_usb_give(). */
struct fake_usb *fake_usb_take(void);
void fake_usb_give(void);

/* Resets it: no devices, no data, no faults. Everything must be closed. */
void fake_usb_reset(void);

/* Makes the chip send bytes, in packets of packet_bytes that begin with two bytes of status. */
void fake_usb_send(const uint8_t *bytes, size_t size, size_t packet_bytes);

#endif
