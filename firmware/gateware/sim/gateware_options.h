/* The command line of bustap-gateware. */
#ifndef FIRMWARE_GATEWARE_SIM_GATEWARE_OPTIONS_H
#define FIRMWARE_GATEWARE_SIM_GATEWARE_OPTIONS_H

#include "firmware/virtual/virtual_bus.h"

#define GATEWARE_LINK_HZ UINT64_C(60000000) /* the FT232H's clock: a byte each */
#define GATEWARE_BUS_MIN UINT64_C(1000000)
#define GATEWARE_BUS_MAX UINT64_C(200000000)

extern const char gateware_usage[];

struct gateware_options {
    struct virtual_bus_settings bus;
    uint64_t bus_hz; /* 0: that of the replayed capture, or its default */
    uint64_t core_hz;
    uint64_t link_bytes; /* per second */
    uint64_t seed;       /* 0: not given */
    const char *vcd;     /* points into the arguments; NULL: none */
};

/* Parses count arguments KEY=VALUE over the defaults. 0 or BT_USAGE. */
int gateware_options_parse(struct gateware_options *options, int count, char *const *arguments,
                           struct bt_error *error);

#endif
