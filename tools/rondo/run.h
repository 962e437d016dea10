/* A program run under predictors: each branch of it is predicted, and what was predicted wrongly is
 * followed for a while. */
#ifndef TOOLS_RONDO_RUN_H
#define TOOLS_RONDO_RUN_H

#include "capture/exec/aria/aria.h"
#include "tools/rondo/front_end.h"
#include "tools/rondo/wrong_path.h"

#include <stdio.h>

struct rondo_run_settings {
    uint64_t skip;                 /* instructions that nobody looks at, at the start */
    uint64_t limit;                /* instructions looked at; 0: all */
    uint32_t depth;                /* instructions of a wrong path; 0: none is followed */
    struct wrong_path *wrong_path; /* NULL: their references go nowhere */
    FILE *progress;                /* a terminal, or NULL */
};

/* Why wrong paths ended. */
enum rondo_ending {
    RONDO_DEPTH,       /* as deep as they may be */
    RONDO_NO_TARGET,   /* the front end did not know where to go on */
    RONDO_SYSTEM_CALL, /* which is not done on a wrong path */
    RONDO_SIGNAL,      /* an instruction that raises one */
    RONDO_ENDINGS
};

struct rondo_results {
    uint64_t skipped, instructions; /* of the right path */
    uint64_t wrong_paths;
    uint64_t wrong_ended[RONDO_ENDINGS];
    uint64_t wrong_instructions, wrong_reads, wrong_writes;
    uint64_t wrong_own_reads; /* with a store buffer: of what the path has stored */
    uint64_t waits;           /* mispredicted without a target to go on at */
    bool limited;             /* the rest of the program was not looked at */
    char executed[120];       /* the program that took this one's place; "" */
    struct process_end end;
    struct bt_error error; /* of the wrong paths' capture; code 0: none */
};

/*
 * Runs the program to its end; what is behind the limit runs freely. 0, or a negative code: the
 * program cannot go on; results are those until then.
 */
int rondo_run(struct aria *aria, struct front_end *front_end,
              const struct rondo_run_settings *settings, struct rondo_results *results,
              struct bt_error *error);

#endif
