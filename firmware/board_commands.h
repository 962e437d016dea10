/* Commands from the host, and the replies. Freestanding. */
#ifndef FIRMWARE_BOARD_COMMANDS_H
#define FIRMWARE_BOARD_COMMANDS_H

#include "firmware/board_state.h"

/* The configuration before the first CONFIGURE. */
struct wire_configuration board_commands_default(void);

/* Sets the configuration. */
void board_commands_configure(struct board *board, const struct wire_configuration *configuration);

/*
 * Executes the received commands whose replies fit the queue; others wait in the link. Returns
 * whether it executed any.
 */
bool board_commands_step(struct board *board);

#endif
