/*
 * The process that executes the program: a child of bustap's, so that the program has a process of
 * its own, with none of bustap's threads and files in it, and what it does to itself, or others to
 * it, leaves the capture in order.
 */
#ifndef CAPTURE_PROGRAM_EXEC_CHILD_H
#define CAPTURE_PROGRAM_EXEC_CHILD_H

#include "capture/program/exec_inside.h"

#include <signal.h>
#include <sys/types.h>

struct exec_child {
    pid_t process;
    int talk; /* a socket to it until the program begins; else -1 */
};

/*
 * Makes the child, which loads the program and waits; its records will go into the lane. mask: of
 * signals, for the program. While the calling process has one thread, which ignores no child's end
 * any more: the program does as before. 0; or what is wrong with the program, with no child left.
 */
int exec_child_new(struct exec_child *child, const struct exec_program *program,
                   struct exec_lanes *lanes, int lane, const sigset_t *mask,
                   struct bt_error *error);

/* The program begins. */
void exec_child_go(struct exec_child *child);

/* The program does not: ends the child. */
void exec_child_abandon(struct exec_child *child);

#endif
