/*
 * Runs a command for each complete file of captures: one at a time, in order, at the lowest
 * priority. A thread of its own waits for the command, a capture never does.
 *
 * The command is a program and arguments, separated by blanks; the file's path follows them. There
 * is no shell. In its environment are BUSTAP_FILE (the path), BUSTAP_PREFIX, BUSTAP_RECORDS,
 * BUSTAP_LOST and BUSTAP_REASON. Its standard input is empty, its output goes to standard error,
 * and it has a process group of its own, which a terminal's signals do not reach.
 */
#ifndef CAPTURE_FILE_COMMAND_H
#define CAPTURE_FILE_COMMAND_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILE_COMMAND_BYTES       1024u /* of a command, with its NUL */
#define FILE_COMMAND_WAITING_MAX 4096u /* files; further ones are skipped and counted */

struct file_command;

struct file_command_settings {
    const char *command; /* copied */
    /* Receives sentences for the operator: the first failure, and what file_command_free leaves.
     * Called by the thread of the command or of file_command_free. */
    void (*report)(void *context, const char *sentence);
    void *context;
};

/* A complete file. */
struct file_command_file {
    const char *path;    /* copied */
    size_t prefix_bytes; /* the part of the path that is the capture's prefix */
    uint64_t records, lost;
    const char *reason; /* why the file is complete; not copied */
};

/* Numbers of files since the start. */
struct file_command_counts {
    uint64_t run;     /* the command has ended, or could not be started */
    uint64_t failed;  /* of those: not with exit status 0 */
    uint64_t skipped; /* too many were waiting, or no memory */
    uint64_t waiting; /* with the one for which the command runs */
};

/* Whether the command's program can be found and executed. 0 or BT_USAGE. */
int file_command_check(const char *command, struct bt_error *error);

/* Starts the thread. NULL and *error: BT_USAGE (no command, or too long) or BT_MEMORY. */
struct file_command *file_command_new(const struct file_command_settings *settings,
                                      struct bt_error *error);

/* Adds a file. Never blocks. Any thread. */
void file_command_put(struct file_command *command, const struct file_command_file *file);

/* Any thread. */
struct file_command_counts file_command_counts(struct file_command *command);

/* Waits up to timeout_ms until no file is left. Returns whether none is. */
bool file_command_wait(struct file_command *command, int timeout_ms);

/* Reports the number of failures, and files that are left: a command that runs continues, waiting
 * files are skipped. Frees. NULL is allowed. */
void file_command_free(struct file_command *command);

#endif
