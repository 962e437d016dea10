/* Job control: bustap stops when the program stops, if a shell watches it. */
#ifndef TOOLS_EXEC_EXEC_STOP_H
#define TOOLS_EXEC_EXEC_STOP_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * To be called after signal `number` has stopped the program, a child. If the calling process is a
 * job of a shell, it stops itself by the same signal until it or the program is continued; then it
 * continues the program, too. Otherwise nothing would continue it: returns at once. The caller
 * blocks all signals.
 */
void exec_stop_too(pid_t program, int number);

#endif
