/* The text of /proc/self/maps of a program. */
#ifndef CAPTURE_EXEC_MEMORY_SPACE_TEXT_H
#define CAPTURE_EXEC_MEMORY_SPACE_TEXT_H

#include "capture/exec/memory/space.h"

#include <stdio.h>

/* Writes a line for each mapping of the program, with the protection that the program has asked
 * for. 0, or BT_IO or BT_MEMORY: our own /proc/self/maps cannot be read. The caller checks the
 * stream for errors. */
int space_write_text(struct space *space, FILE *stream, struct bt_error *error);

#endif
