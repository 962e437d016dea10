/* What bustap does while the program runs. */
#ifndef TOOLS_EXEC_EXEC_SUPERVISE_H
#define TOOLS_EXEC_EXEC_SUPERVISE_H

#include "capture/program/exec_child.h"
#include "tools/exec/exec_outputs.h"

/*
 * Until the child ends, and all captures: passes signals on that were sent to bustap alone, stops
 * as exec_stop.h has it, keeps the live line. All signals are blocked. Returns the child's wait
 * status.
 */
int exec_supervise(const struct exec_child *child, struct exec_outputs *outputs);

/* Ends the calling process as a wait status says, unless that is a plain exit: then returns its
 * value. */
int exec_supervise_end(int wait_status);

#endif
