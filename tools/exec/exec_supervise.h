/* The work of bustap while the program runs. */
#ifndef TOOLS_EXEC_EXEC_SUPERVISE_H
#define TOOLS_EXEC_EXEC_SUPERVISE_H

#include "capture/program/exec_child.h"
#include "tools/exec/exec_outputs.h"

/*
 * Waits for the end of the child and of all captures. Meanwhile forwards signals that were sent to
 * bustap alone, stops with the program (exec_stop.h) and updates the live line. The caller blocks
 * all signals. Returns the child's wait status.
 */
int exec_supervise(const struct exec_child *child, struct exec_outputs *outputs);

/* Ends the calling process by the signal of a wait status. Returns the exit status of a child that
 * exited. */
int exec_supervise_end(int wait_status);

#endif
