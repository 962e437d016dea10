/*
 * The process that executes a program for `bustap exec`: it puts the program's records into lanes,
 * and those of programs that replace it; when following, also those of its children. The command's
 * part in that process (places of the program, messages) is a table of callbacks.
 */
#ifndef CAPTURE_PROGRAM_EXEC_INSIDE_H
#define CAPTURE_PROGRAM_EXEC_INSIDE_H

#include "capture/exec/kernel/process.h"
#include "capture/program/exec_lanes.h"

struct exec_inside;
struct exec_program;

/* Callbacks to the command. All are present, and are called with exec_program.context in the
 * process that executes the program. */
struct exec_inside_operations {
    /* Before the program is loaded: prepares what the orders request. 0 or a negative code. */
    int (*begin)(void *context, const struct exec_program *program,
                 const struct exec_orders *orders, struct bt_error *error);

    /* After begin() and after loaded(): addresses where regions open and close, as in
     * process_regions. */
    void (*places)(const void *context, uint64_t *from, uint64_t *until);

    /* The program is loaded: 0, or a negative code if the orders cannot be executed with it. Hides
     * the command's descriptors. */
    int (*check)(void *context, struct process *process, struct bt_error *error);

    /* This is another process now, a child or a followed program, with its number (struct
     * exec_user). */
    void (*process)(void *context, uint32_t number);

    /* Files with code were mapped or unmapped. */
    void (*loaded)(void *context, const struct modules *modules);

    /* Whether an instruction is captured, by its address; with orders.code. */
    bool (*is_selected)(const void *context, uint64_t address);

    /* As in process_operations; the last three as orders.debug requests. */
    void (*notice)(void *context, const char *what);
    void (*translated)(void *context, unsigned processor, const struct block *block);
    void (*signalled)(void *context, unsigned processor, const struct signal_report *signal);
    void (*called)(void *context, unsigned processor, const struct system_call *call,
                   bool returned);

    /* The execution failed. */
    void (*failed)(void *context, const struct bt_error *error);

    /* The program has ended; `opened`: at least one region has opened. */
    void (*ended)(void *context, bool opened);

    /* After that, except in children: the exit status if the program itself succeeded. */
    int (*finish)(void *context);

    /* The program was not loaded: frees what begin() has allocated; also after a failed begin(). */
    void (*end)(void *context);
};

/* A program to execute; the caller owns what it points to. */
struct exec_program {
    const char *path;
    const char *file; /* opened instead of the path; NULL: the path */
    const char *const *arguments;
    const char *const *environment;
    const char *command; /* command line, as in exec_user */
    bool follows;
    const struct exec_inside_operations *callbacks;
    void *context; /* passed to all callbacks */
};

/* Loads the program into the calling process. `lane` is the lane that the process has already, or
 * -1. NULL with *error: the program cannot be executed. */
struct exec_inside *exec_inside_new(struct exec_lanes *lanes, int lane,
                                    const struct exec_program *program, struct bt_error *error);

/* Runs the program, and ends the process as the program ends. */
_Noreturn void exec_inside_run(struct exec_inside *inside);

/*
 * A process that executes a followed program executes `bustap exec EXEC_INSIDE CALL PATH
 * [ARGUMENT...]`, the arguments from argv[0] on. That bustap calls this function with CALL and the
 * program; `file` and `follows` are ignored.
 */
#define EXEC_INSIDE "--inside"
_Noreturn void exec_inside_main(const char *call, const struct exec_program *program);

#endif
