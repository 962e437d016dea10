/*
 * What `bustap exec` does in the process that executes the program: finds the program's places
 * (--start-at, --stop-at, --only-code), writes the list of modules, prints messages and events.
 */
#ifndef TOOLS_EXEC_EXEC_PLACES_H
#define TOOLS_EXEC_EXEC_PLACES_H

#include "capture/program/exec_inside.h"
#include "tools/exec/exec_code.h"
#include "tools/exec/exec_program.h"

#include <stdio.h>

struct exec_places {
    const char *modules_option; /* file for the list of modules; NULL: none. The caller sets it */

    /* set by begin() */
    const char *path; /* of the program */
    bool follows;
    const struct exec_orders *orders;
    struct exec_symbol from, until;
    struct exec_code code;
    char modules[EXEC_PROGRAM_BYTES]; /* absolute path of that file; empty: none */
    size_t modules_written;           /* number of modules in the file */
    int modules_failure;              /* errno of its last writing; 0: it succeeded */
    FILE *debug;                      /* for exec_debug.h; NULL: events are not printed */
    FILE *messages; /* standard error, which the program cannot close; NULL: it is closed */
};

/* Their context is a struct exec_places, zeroed but for modules_option. */
extern const struct exec_inside_callbacks exec_places_callbacks;

#endif
