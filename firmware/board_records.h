/* From request phases to records in frames: decode, filter, time, keep or count as lost.
 * Freestanding. */
#ifndef FIRMWARE_BOARD_RECORDS_H
#define FIRMWARE_BOARD_RECORDS_H

#include "firmware/board_state.h"

/* Starts a session's counting: its first request is the next phase from now on. */
void board_records_reset(struct board *board);

/* Takes what the bus has, up to BOARD_PHASES; records it if armed, else forgets it. Returns the
 * phases taken. */
size_t board_records_take(struct board *board);

#endif
