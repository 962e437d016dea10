/* Runs a program under predictors: predicts each branch, and follows mispredicted paths for a
 * number of instructions. */
#ifndef TOOLS_RONDO_RUN_H
#define TOOLS_RONDO_RUN_H

#include "capture/exec/aria/aria.h"
#include "tools/rondo/front_end.h"
#include "tools/rondo/wrong_path.h"

#include <stdio.h>

struct rondo_run_settings {
    uint64_t skip;                 /* instructions skipped at the start */
    uint64_t limit;                /* instructions predicted; 0: all */
    uint32_t depth;                /* maximum instructions of a wrong path; 0: none is followed */
    struct wrong_path *wrong_path; /* capture of wrong paths, or NULL */
    FILE *progress;                /* a terminal, or NULL */
};

/* Why wrong paths ended. */
enum rondo_ending {
    RONDO_DEPTH,       /* maximum depth reached */
    RONDO_NO_TARGET,   /* the front end predicted no target */
    RONDO_SYSTEM_CALL, /* system calls are not executed on a wrong path */
    RONDO_SIGNAL,      /* an instruction that raises a signal */
    RONDO_ENDINGS
};

struct rondo_results {
    uint64_t skipped, instructions; /* of the right path */
    uint64_t wrong_paths;
    uint64_t wrong_ended[RONDO_ENDINGS];
    uint64_t wrong_instructions, wrong_reads, wrong_writes;
    uint64_t wrong_own_reads; /* with a store buffer: reads of bytes that the path has stored */
    uint64_t waits;           /* mispredictions without a predicted target */
    bool limited;             /* stopped at the limit; the program then ran unpredicted */
    char executed[120];       /* path of the program executed in place of this one; or "" */
    struct process_end end;
    struct bt_error error; /* of the capture of wrong paths; code 0: none */
};

/* Runs the program to its end, after the limit without predicting. 0, or a negative code if the
 * program cannot continue; *results then holds the counts so far. */
int rondo_run(struct aria *aria, struct front_end *front_end,
              const struct rondo_run_settings *settings, struct rondo_results *results,
              struct bt_error *error);

#endif
