/*
 * A board that is a program: it speaks the wire protocol on its standard input and output. It is
 * expected to end when its standard input ends.
 */
#ifndef DRIVER_PROGRAM_BOARD_H
#define DRIVER_PROGRAM_BOARD_H

#include "driver/stream.h"

/* Whether the command can be split into words; does not search for the program. 0 or BT_USAGE. */
int program_board_check(const char *command, struct bt_error *error);

/*
 * Starts the program. Its standard error is passed on to ours line by line, except a last line that
 * becomes the reason in an error; what ours does not accept at once is left out, so that it never
 * holds up the program. name is for messages.
 *
 * When the program ends, or closes its standard output, the stream ends: BT_CLOSED with its exit
 * status and its last line. The stream's diagnose operation closes the program's standard input,
 * waits a moment for its end, and fails if it ends otherwise than with exit status 0. stream_close
 * does the same, but ends a program that does not end by itself: by SIGTERM to its process group,
 * then by SIGKILL. Other processes of its group are then killed by SIGKILL.
 *
 * 0 or a negative code: BT_IO if there is no such program.
 */
int program_board_open(struct stream **stream, const char *command, const char *name,
                       struct bt_error *error);

#endif
