/* Job control: bustap stops where the program does, as far as anybody looks. */
#ifndef TOOLS_EXEC_EXEC_STOP_H
#define TOOLS_EXEC_EXEC_STOP_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * The program, a child, has been stopped by signal `number`. Where the calling process is a job of
 * a shell's, so that the shell would like to know, it stops by the same signal, until it is
 * continued, or the program is, by whomever; the program goes on, too, then. Anywhere else nobody
 * would continue it: returns at once. All signals are blocked.
 */
void exec_stop_too(pid_t program, int number);

#endif
