/*
 * Collects facts about FTDI chips that may be boards, without opening one as a board, for
 * `bustap doctor`.
 */
#ifndef DRIVER_FTDI_DIAGNOSIS_H
#define DRIVER_FTDI_DIAGNOSIS_H

#include "driver/ftdi_devices.h"
#include "driver/usb_node.h"
#include "formats/base/named_fields.h"

struct ftdi_diagnosis {
    struct ftdi_device device; /* with the kernel's strings if it cannot be opened */
    char specification[FTDI_SPECIFICATION_BYTES];
    struct usb_node node;
    bool ours;         /* may be opened: see ftdi_diagnosis_list */
    bool eeprom_known; /* eeprom was read */
    uint16_t eeprom;   /* first word of the EEPROM */
};

struct NAMED_FIELDS ftdi_diagnoses {
    struct ftdi_diagnosis *boards;
    size_t count;
    size_t devices; /* USB devices of any kind */
};

/*
 * Finds the chips that options select; without options (NULL) all that can be boards. A chip is
 * `ours` if it has FTDI's ids, options name it, or a udev rule identifies it as a board. Of other
 * chips, which may belong to any product, only descriptors are read. Of ours that no program has
 * claimed, the EEPROM's mode is read, too. root is a prefix of /sys, /dev, /proc and /run, "" for
 * this machine. 0, and the caller frees the result with ftdi_diagnoses_free; BT_DEVICE if USB
 * cannot be used; BT_MEMORY.
 */
int ftdi_diagnosis_list(struct ftdi_diagnoses *found, const struct ftdi_options *options,
                        const char *root, struct bt_error *error);
void ftdi_diagnoses_free(struct ftdi_diagnoses *found);

/* "FT232H", "FT2232H", or NULL for another chip. */
const char *ftdi_diagnosis_chip(const struct ftdi_diagnosis *board);

#endif
