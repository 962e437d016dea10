/*
 * Everything that can be found out about FTDI chips that may be boards, short of opening one as a
 * board: for `bustap doctor`, which judges it.
 */
#ifndef DRIVER_FTDI_DIAGNOSIS_H
#define DRIVER_FTDI_DIAGNOSIS_H

#include "driver/ftdi_devices.h"
#include "driver/usb_node.h"
#include "formats/base/named_fields.h"

struct ftdi_diagnosis {
    struct ftdi_device device; /* strings are the kernel's where it cannot be opened */
    char specification[FTDI_SPECIFICATION_BYTES];
    struct usb_node node;
    bool ours;         /* it may be asked and opened: see ftdi_diagnosis_list */
    bool eeprom_known; /* asked, and answered */
    uint16_t eeprom;   /* its first word */
};

struct NAMED_FIELDS ftdi_diagnoses {
    struct ftdi_diagnosis *boards;
    size_t count;
    size_t devices; /* on USB, of whatever kind */
};

/*
 * Finds the chips that options mean; without options (NULL) all that can be boards. Of chips with
 * ids of their own, which may be anything with an FTDI chip, only descriptors are read unless
 * options name them or a udev rule identified them as boards: those, and FTDI's own ids, are
 * `ours`, and their EEPROM's mode is read too where no program has claimed them. root stands in
 * front of /sys, /dev, /proc and /run, "" for this machine's. 0, and free what was found with
 * ftdi_diagnoses_free; or BT_DEVICE where USB cannot be used, BT_MEMORY.
 */
int ftdi_diagnosis_list(struct ftdi_diagnoses *found, const struct ftdi_options *options,
                        const char *root, struct bt_error *error);
void ftdi_diagnoses_free(struct ftdi_diagnoses *found);

/* "FT232H", "FT2232H", or NULL for another chip. */
const char *ftdi_diagnosis_chip(const struct ftdi_diagnosis *board);

#endif
