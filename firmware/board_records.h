/* Converts request phases to records in frames: decodes, filters, times, keeps or counts as lost.
 * Freestanding. */
#ifndef FIRMWARE_BOARD_RECORDS_H
#define FIRMWARE_BOARD_RECORDS_H

#include "firmware/board_state.h"

/* Starts a session's counting: its first request is the next phase from now on. */
void board_records_reset(struct board *board);

/*
 * Takes up to BOARD_PHASES phases from the bus; records them if armed, else discards them. Returns
 * their number. If the configuration says so, stalls the bus instead of dropping records, and
 * leaves phases for the next call.
 */
size_t board_records_take(struct board *board);

/* Sets whether the front end stalls the bus: never, unless armed and configured to. */
void board_records_stall(struct board *board);

#endif
