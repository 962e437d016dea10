/*
 * Boards behind an FTDI chip in synchronous 245 FIFO mode (FT232H, FT2232H channel A) as byte
 * streams. libftdi1 opens and configures the chip; the transfers are our own (driver/ftdi_ring.h).
 */
#ifndef DRIVER_FTDI_H
#define DRIVER_FTDI_H

#include "driver/boards.h"
#include "driver/stream.h"

/*
 * Opens the board that options select (driver/ftdi_options.h; what a specification has behind
 * "ftdi:", or "" for the only board that is there). 0; BT_USAGE for options that make no sense;
 * BT_DEVICE where there is no such board, more than one, or it cannot be used (slow port, wrong
 * EEPROM, no permission); BT_BUSY where another program has it. *stream is closed with
 * stream_close.
 */
int ftdi_open(struct stream **stream, const char *options, struct bt_error *error);

/* The FTDI part of boards_list; same arguments. */
int ftdi_list(struct board_listing **listings, size_t *count, struct bt_error *error);

#endif
