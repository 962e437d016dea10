/* A board in this process: the firmware on a simulated bus, connected by a bounded FIFO. */
#ifndef DRIVER_VIRTUAL_BOARD_H
#define DRIVER_VIRTUAL_BOARD_H

#include "driver/stream.h"
#include "firmware/virtual/virtual_bus.h"

#define VIRTUAL_BOARD_FIFO_BYTES                                                                   \
    65536u                           /* to the host, as large as a USB chip's and its driver's     \
                                      */
#define VIRTUAL_BOARD_FRAMES     64u /* the board's frame queue */
#define VIRTUAL_BOARD_FRAMES_MIN 4u
#define VIRTUAL_BOARD_FRAMES_MAX 65535u

struct virtual_board_settings {
    struct virtual_bus_settings bus;
    uint32_t frames;     /* of the board's queue; 0: VIRTUAL_BOARD_FRAMES */
    uint32_t fifo_bytes; /* to the host; 0: VIRTUAL_BOARD_FIFO_BYTES */
    uint64_t link_rate;  /* bytes per second to the host; 0: no limit */
};

/*
 * Starts a board and its bus, which begins when a host arms the board. name is for messages. The
 * stream's diagnose operation reports why the bus ended early. 0 or a negative code.
 */
int virtual_board_open(struct stream **stream, const struct virtual_board_settings *settings,
                       const char *name, struct bt_error *error);

#endif
