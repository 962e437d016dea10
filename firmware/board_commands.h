/* The board's ear: commands from the host, and the replies. Freestanding. */
#ifndef FIRMWARE_BOARD_COMMANDS_H
#define FIRMWARE_BOARD_COMMANDS_H

#include "firmware/board_state.h"

/* The configuration of a board that was never given one. */
struct wire_configuration board_commands_default(void);

/* Sets the configuration. */
void board_commands_configure(struct board *board, const struct wire_configuration *configuration);

/*
 * Obeys the commands that have arrived and whose replies find room in the queue; others wait in the
 * link. Returns whether anything was done.
 */
bool board_commands_step(struct board *board);

#endif
