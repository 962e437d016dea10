/* Job control: bustap stops when the program stops, if a shell watches it. */
#ifndef TOOLS_EXEC_EXEC_STOP_H
#define TOOLS_EXEC_EXEC_STOP_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Called after signal `number` has stopped the program, a child. If the calling process is a job of
 * a shell, it stops by the same signal until it or the program is continued, then also continues
 * the program. Otherwise it returns at once, because nothing would continue it. The caller blocks
 * all signals.
 */
void exec_stop_too(pid_t program, int number);

#endif
