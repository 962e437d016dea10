/*
 * Output files of a command that executes a program in its own process. They have high descriptor
 * numbers, which programs rarely use; process_hide() protects them from the program.
 */
#ifndef TOOLS_COMMON_OWN_STREAM_H
#define TOOLS_COMMON_OWN_STREAM_H

#include "formats/base/error.h"
#include "formats/base/named_fields.h"

#include <signal.h>
#include <stdio.h>

/* Opens a file and empties it. Returns the descriptor, which execve(2) closes, or a negative
 * code. */
int own_stream_descriptor(const char *path, struct bt_error *error);

/* The same as a stream, whose file keeps its content until own_stream_empty(), so that an earlier
 * report survives if the program cannot be executed. NULL with *error; the caller closes it. */
FILE *own_stream_open(const char *path, struct bt_error *error);

/* Empties the file and writes from its start. Does nothing to pipes and devices. 0 or BT_IO. */
int own_stream_empty(FILE *stream, const char *path, struct bt_error *error);

/* Flushes a stream. name is for the message. 0, or BT_IO with the reason, also if an earlier write
 * has failed. */
int own_stream_finish(FILE *stream, const char *name, struct bt_error *error);

/* A second stream to an open descriptor, such as standard error, which the program may close. NULL
 * with *error; the caller closes it. */
FILE *own_stream_on(int descriptor, struct bt_error *error);

/* Prints a line that begins with "bustap: " to a stream of own_stream_on(), also while the program
 * runs. Does nothing if stream is NULL. */
void own_stream_say(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a note; NULL: there is none. */
void own_stream_note(FILE *stream, const char *note);

/* For process_operations.notice: the same, with the program as the subject. */
void own_stream_notice(FILE *stream, const char *what);

#define OWN_OUTPUTS_MAX 3

/* An output of a command. */
struct NAMED_FIELDS own_output {
    const char *path; /* NULL: standard error, if it is open */
    const char *what; /* name in messages: "the report" */
};

/*
 * Checks outputs before any is opened: all must be different files, none the program's. Rejects
 * "-". Creates missing files and leaves existing ones unchanged. `what` is NULL in unused outputs.
 * 0, BT_USAGE, BT_BUSY (a file of a running capture) or BT_IO (cannot be written).
 */
int own_stream_check(const struct own_output *outputs, size_t count, const char *program,
                     struct bt_error *error);

/*
 * Called around output while the program runs: if the reader has closed its end or the file is at
 * its size limit, write() returns an error and the program gets no signal.
 */
struct own_signals {
    sigset_t mask, pending;
};
void own_stream_hold(struct own_signals *before);
void own_stream_release(const struct own_signals *before);

#endif
