/*
 * Starts the process that executes the program: a child of bustap, without bustap's threads and
 * files. The capture continues whatever happens to the child.
 */
#ifndef CAPTURE_PROGRAM_EXEC_CHILD_H
#define CAPTURE_PROGRAM_EXEC_CHILD_H

#include "capture/program/exec_inside.h"

#include <signal.h>
#include <sys/types.h>

struct exec_child {
    pid_t process;
    int talk; /* socket to the child until the program starts; then -1 */
};

/*
 * Starts the child, which loads the program and waits for exec_child_go(). Records go to the lane.
 * `mask` is the program's signal mask. Call it while the calling process has one thread; SIGCHLD
 * has its default action afterwards, and its previous one in the program. 0, or a negative code
 * with *error: the program cannot be executed, and there is no child.
 */
int exec_child_new(struct exec_child *child, const struct exec_program *program,
                   struct exec_lanes *lanes, int lane, const sigset_t *mask,
                   struct bt_error *error);

/* Starts the program. */
void exec_child_go(struct exec_child *child);

/* Ends the child; the program does not start. */
void exec_child_abandon(struct exec_child *child);

#endif
