/* A space as the program would read it in its /proc/self/maps. */
#ifndef CAPTURE_EXEC_MEMORY_SPACE_TEXT_H
#define CAPTURE_EXEC_MEMORY_SPACE_TEXT_H

#include "capture/exec/memory/space.h"

#include <stdio.h>

/* Writes a line for each mapping of the program to a stream, with the protection it believes in. 0,
 * or BT_IO or BT_MEMORY: our own /proc/self/maps cannot be read. Errors of the stream are its own.
 */
int space_write_text(struct space *space, FILE *stream, struct bt_error *error);

#endif
