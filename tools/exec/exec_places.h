/*
 * The part of `bustap exec` in the process that executes the program: finds the program's places
 * (--start-at, --stop-at, --only-code), writes the list of modules, prints messages and events.
 */
#ifndef TOOLS_EXEC_EXEC_PLACES_H
#define TOOLS_EXEC_EXEC_PLACES_H

#include "capture/program/exec_inside.h"
#include "tools/exec/exec_code.h"
#include "tools/exec/exec_program.h"
#include "tools/exec/region_options.h"

#include <stdio.h>

struct exec_places {
    const char *modules_option; /* set by the caller: file for the list of modules; NULL: none */

    /* set by begin() */
    const char *path; /* path of the program */
    bool follows;
    const struct exec_orders *orders;
    struct region_places region;
    struct exec_code code;
    char modules[EXEC_PROGRAM_BYTES]; /* absolute path of modules_option; empty: none */
    const struct modules *loaded;     /* the list; NULL: none yet */
    size_t modules_written;           /* number of modules in that file */
    uint64_t modules_changes;         /* changes of the list until then */
    int modules_failure;              /* errno of the last write of that file; 0: success */
    bool own_list;  /* of a followed process, which goes without if it may not write it */
    FILE *debug;    /* for exec_debug.h; NULL: events are not printed */
    FILE *messages; /* standard error, protected from the program; NULL: it is closed */
};

/* The context is a struct exec_places, all zero except modules_option. */
extern const struct exec_inside_operations exec_places_callbacks;

#endif
