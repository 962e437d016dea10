/*
 * Inside a process that executes a program: its records go into lanes, those of its children, and
 * of programs that take its place, too, where that is wanted.
 */
#ifndef CAPTURE_PROGRAM_EXEC_INSIDE_H
#define CAPTURE_PROGRAM_EXEC_INSIDE_H

#include "capture/program/exec_lanes.h"

struct exec_inside;

/* What a process is made for. */
struct exec_program {
    const char *path;
    const char *file; /* to be opened in its place; NULL: that itself */
    const char *const *arguments;
    const char *const *environment;
    const char *modules; /* a file for what was loaded; NULL: none */
    bool follows;
};

/* Loads the program into the calling process. `lane` is its own already, or -1. NULL and *error:
 * it cannot run here. */
struct exec_inside *exec_inside_new(struct exec_lanes *lanes, int lane,
                                    const struct exec_program *program, struct bt_error *error);

/* Runs it, and ends the process as the program ends. */
_Noreturn void exec_inside_run(struct exec_inside *inside);

/* What another bustap is called with as a followed program begins: EXEC_INSIDE, exec_inside_call,
 * the program's path, and its arguments. Never returns. */
#define EXEC_INSIDE "--inside"
_Noreturn void exec_inside_main(int count, char **arguments);

#endif
