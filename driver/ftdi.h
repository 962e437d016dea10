/*
 * Boards with an FTDI chip in synchronous 245 FIFO mode (FT232H, FT2232H channel A) as byte
 * streams. libftdi1 opens and configures the chip; driver/ftdi_ring.h does the transfers.
 */
#ifndef DRIVER_FTDI_H
#define DRIVER_FTDI_H

#include "driver/boards.h"
#include "driver/stream.h"

/*
 * Opens the board that options select (driver/ftdi_options.h: the part of a specification after
 * "ftdi:", or "" for the only board). 0; BT_USAGE for invalid options; BT_DEVICE if no board or
 * more than one matches, or it cannot be used (slow port, wrong EEPROM, no permission); BT_BUSY if
 * another program uses it. The caller closes *stream with stream_close.
 */
int ftdi_open(struct stream **stream, const char *options, struct bt_error *error);

/* The FTDI part of boards_list; same arguments. */
int ftdi_list(struct board_listing **listings, size_t *count, struct bt_error *error);

#endif
