/* The options after "ftdi:": which board, and which channel of its chip. */
#ifndef DRIVER_FTDI_OPTIONS_H
#define DRIVER_FTDI_OPTIONS_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct ftdi_options {
    char serial[64];      /* empty: any */
    char description[64]; /* the product string; empty: any */
    bool has_ids;
    uint16_t vid, pid; /* with has_ids; else FTDI's ids of suitable chips */
    char channel;      /* 'A' or 'B' */
};

/* Parses "serial=S,description=D,vid=V,pid=P,channel=A|B", each at most once, in any order; vid and
 * pid are hexadecimal and must both be given. 0, or BT_USAGE with what is allowed. */
int ftdi_options_parse(struct ftdi_options *options, const char *text, struct bt_error *error);

/* Whether the options select a device with these ids and strings. */
bool ftdi_options_match(const struct ftdi_options *options, uint16_t vid, uint16_t pid,
                        const char *serial, const char *description);

#endif
