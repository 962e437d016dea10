/* What `bustap exec` was asked for. */
#ifndef TOOLS_EXEC_EXEC_SETTINGS_H
#define TOOLS_EXEC_EXEC_SETTINGS_H

#include "capture/capture.h"
#include "driver/session.h"
#include "formats/record/filter.h"

struct exec_settings {
    struct capture_settings capture; /* first: capture_options.h */
    bool only_fetch, only_data;
    bool board;                      /* by way of a virtual one */
    struct session_settings session; /* with it */
    bool packing;                    /* was asked for */
    uint64_t skip, limit;            /* instructions; 0: none */
    uint64_t on, off;                /* of samples; off 0: all */
    uint64_t quantum;                /* instructions of a thread's turn */
    const char *from, *until;        /* places, as exec_symbol_parse() has them; NULL: none */
    const char *calls;               /* likewise: of this function */
    bool repeats, markers;
    const char *code;       /* instructions there alone: exec_code.h; NULL: all */
    const char *filter;     /* of records, as given; NULL: none */
    struct filter records;  /* that */
    bool ends;              /* the program, after what is captured */
    const char *modules;    /* a file for what was loaded; NULL: none */
    unsigned debug;         /* exec_debug.h: what is shown; 0: nothing */
    const char *debug_file; /* where; NULL: on standard error */
    bool quiet;
    bool each;                      /* each thread has a separate capture */
    bool follow;                    /* children, too, and programs that others become */
    const char *summary;            /* a file for it; NULL: none */
    const char *const *arguments;   /* of the program, its name first; NULL ends them */
    const char *const *environment; /* NULL ends it */
};

#endif
