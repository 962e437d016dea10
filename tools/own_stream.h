/*
 * Files of a command that executes a program in its own process: under numbers that the program
 * does not come to by itself. Whoever must not lose them hides them, too (process_hide()).
 */
#ifndef TOOLS_OWN_STREAM_H
#define TOOLS_OWN_STREAM_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stdio.h>

/* A file to be written anew: its descriptor, closed where another program is executed; or a
 * negative code. */
int own_stream_descriptor(const char *path, struct bt_error *error);

/* The same as a stream. NULL with *error; the caller closes it. */
FILE *own_stream_open(const char *path, struct bt_error *error);

/* Another stream to what is open already: standard error, which the program may close. NULL with
 * *error; the caller closes it. */
FILE *own_stream_on(int descriptor, struct bt_error *error);

/* Whether the descriptor is of that very file, on a disk, where one would overwrite the other. */
bool own_stream_is(int descriptor, const char *path);

#endif
