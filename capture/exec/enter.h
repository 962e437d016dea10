/* The way into translated code and out of it. */
#ifndef CAPTURE_EXEC_ENTER_H
#define CAPTURE_EXEC_ENTER_H

#include "capture/exec/thread.h"

/*
 * Loads the registers of *thread (to which gs must point), and jumps to code. Returns when code
 * jumps to exec_leave() with the program's registers, which are then in *thread again, all but rip.
 * With vector, the vector state is loaded too, and saved at the end; without, it stays in
 * *thread->vector, and code must not touch it.
 */
void exec_enter(struct exec_thread *thread, const void *code, bool vector);

/* To be jumped to, not called. */
void exec_leave(void);

/* Where a signal handler sends a thread that is to return from exec_enter(): with rsp as
 * host_stack has it, and all that is the program's in *thread already. */
void exec_return(void);

/*
 * What to install for signals that come while translated code runs: puts our own fs in place, and
 * calls exec_signal(). Where that returns true, the thread goes on with the program's fs.
 */
void exec_signal_entry(int number, void *information, void *context);

/* Written by whoever handles signals (fault.c). */
bool exec_signal(int number, void *information, void *context);

#endif
