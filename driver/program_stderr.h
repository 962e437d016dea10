/* Passes on what a program writes to its standard error, and keeps its last line. */
#ifndef DRIVER_PROGRAM_STDERR_H
#define DRIVER_PROGRAM_STDERR_H

#define PROGRAM_STDERR_LINE 320u /* longer lines are divided when they are passed on */

struct program_stderr;

/* Starts a thread that reads the descriptor, which it owns, also on failure. NULL: no memory. */
struct program_stderr *program_stderr_new(int descriptor);

/*
 * For a program that has ended: reads what is left and copies the last line with text to line,
 * empty if there is none; of a long line the beginning and the end, with " ... " between. What has
 * not been passed on of that line no longer will be.
 */
void program_stderr_end(struct program_stderr *self, char line[PROGRAM_STDERR_LINE]);

/* Passes on what is left and ends the thread. NULL is allowed. */
void program_stderr_free(struct program_stderr *self);

#endif
