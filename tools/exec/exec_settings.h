/* The options of `bustap exec`. */
#ifndef TOOLS_EXEC_EXEC_SETTINGS_H
#define TOOLS_EXEC_EXEC_SETTINGS_H

#include "capture/capture.h"
#include "driver/session.h"
#include "tools/exec/region_options.h"

struct exec_settings {
    struct capture_settings capture; /* first: capture_options.h */
    bool only_fetch, only_data;
    bool repetitions;                /* fetch a string instruction for each of its repetitions */
    bool board;                      /* capture through a virtual board */
    struct session_settings session; /* session with the virtual board */
    bool packing;                    /* --packing was given */
    struct region_options region;
    uint64_t quantum;       /* instructions per turn of a thread */
    const char *code;       /* capture only this code: exec_code.h; NULL: all */
    const char *filter;     /* a valid expression; NULL: none */
    const char *command;    /* of --exec-on-file; NULL: none */
    const char *modules;    /* file for the list of modules; NULL: none */
    unsigned debug;         /* events to print, EXEC_DEBUG_*; 0: none */
    const char *debug_file; /* file for these events; NULL: standard error */
    bool quiet;
    bool no_cache;                  /* of translations */
    bool each;                      /* each thread has a separate capture */
    bool follow;                    /* also capture children and executed programs */
    const char *summary;            /* file for the summary; NULL: none */
    const char *const *arguments;   /* the program's name and arguments, terminated by NULL */
    const char *const *environment; /* the program's environment, terminated by NULL */
};

#endif
