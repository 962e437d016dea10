/* Passes on what a program writes to its standard error, and keeps its last line. */
#ifndef DRIVER_PROGRAM_STDERR_H
#define DRIVER_PROGRAM_STDERR_H

#define PROGRAM_STDERR_LINE 320u /* longer lines are divided */

struct program_stderr;

/* Starts a thread that reads the descriptor, which it owns, also on failure. NULL: no memory. */
struct program_stderr *program_stderr_new(int descriptor);

/*
 * For a program that has ended: reads what is left and copies the last line with text to line,
 * empty if there is none; that line is not passed on any more if it was not yet.
 */
void program_stderr_end(struct program_stderr *self, char line[PROGRAM_STDERR_LINE]);

/* Ends the thread; what was not passed on is. NULL is allowed. */
void program_stderr_free(struct program_stderr *self);

#endif
