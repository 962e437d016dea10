/* Converts request phases to records in frames: decodes, filters, times, keeps or counts as lost.
 * Freestanding. */
#ifndef FIRMWARE_BOARD_RECORDS_H
#define FIRMWARE_BOARD_RECORDS_H

#include "firmware/board_state.h"

/* Starts a session's counting: its first request is the next phase from now on. */
void board_records_reset(struct board *board);

/* Takes up to BOARD_PHASES phases from the bus; records them if armed, else discards them. Returns
 * their number. */
size_t board_records_take(struct board *board);

#endif
