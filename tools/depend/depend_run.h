/*
 * A program under capture/exec whose dependences are traced: everything between the process and
 * the engine.
 */
#ifndef TOOLS_DEPEND_DEPEND_RUN_H
#define TOOLS_DEPEND_DEPEND_RUN_H

#include "tools/depend/depend_detail.h"
#include "tools/depend/depend_memory.h"
#include "tools/depend/depend_trace.h"
#include "tools/depend/loop_judge.h"
#include "tools/exec/region_options.h"

struct NAMED_FIELDS depend_run_settings {
    unsigned kinds; /* bits 1 << enum depend_kind */
    enum dependences_level level;
    const char *detail; /* file of the names of DETAIL functions; NULL: depend_detail.h */
    bool all;           /* also return addresses and saved registers */
    bool raw_names;
    uint64_t max_memory, quantum;
    bool no_cache; /* of translations */
    struct region_options region;
};

struct depend_run {
    const struct depend_run_settings *settings;         /* these three are set by the caller */
    const char *program;                                /* command line */
    void (*executing)(void *context, const char *path); /* as in process_operations */
    void *context;
    FILE *messages; /* set after depend_run_begin(); NULL: standard error is closed */

    struct process *process;
    bool is_child; /* of fork: not traced */

    /* private */
    struct depend_trace *trace; /* NULL: none is written */
    struct functions *functions;
    struct code_places places;
    struct feed_flow flow;
    struct depend *depend;
    struct depend_feed feed;
    struct depend_memory memory;
    struct depend_detail detail;
    struct region_places region;
    struct loop_judge judge;
    const struct module *own; /* the program's file */
    bool out_of_memory;
    bool is_incomplete; /* the feed has failed: the rest of the run is not counted */
};

/* Prepares the run of a program. trace: NULL or an open one. 0 or a negative code; free in any
 * case. */
int depend_run_begin(struct depend_run *run, const char *path, const char *const *arguments,
                     struct depend_trace *trace, struct bt_error *error);
void depend_run_clear(struct depend_run *run);

/* What was found, by instruction; ended says how the program ended. NULL and *error without
 * memory. */
struct dependences *depend_run_result(struct depend_run *run, const char *ended,
                                      struct bt_error *error);

/* After the program: reports names, places and limits to the messages. */
void depend_run_say(const struct depend_run *run);

#endif
