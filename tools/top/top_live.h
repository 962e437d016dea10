/* Shows what is counted while it is counted: on a terminal, or as a report in each interval. */
#ifndef TOOLS_TOP_TOP_LIVE_H
#define TOOLS_TOP_TOP_LIVE_H

#include "formats/record/source.h"
#include "tools/input/record_input.h"
#include "tools/top/top_report.h"

#include <signal.h>

struct NAMED_FIELDS top_live {
    struct record_input *input; /* what is counted: this, */
    struct source *source;      /* or, if it is not NULL, this: tools/input/capture_follow.h */
    struct top_study *study;    /* with rates */
    struct top_report report;
    size_t rows;
    int64_t interval_ns;
    bool screen; /* on the terminal of standard output; else reports */
    /* Prints a report on standard output. 0 or a negative code. */
    int (*print)(void *context, const struct top_report *report, struct bt_error *error);
    void *context;
    bool ended; /* result: the input has ended; false: it is still being read by another thread, and
                   neither input nor study may be freed */
    int status; /* result: exit status for what was wrong with the source's records */
    int signal; /* result: the signal that ended it, which the caller should raise; 0: none */
};

/* Blocks the signals that top_live_run handles, in this and later threads: before the input is
 * opened. */
void top_live_block(sigset_t *before);

/* Takes those that are pending: a second signal may belong to the request that was carried out. */
void top_live_forget(void);

/*
 * Counts the records of the input to its end, or until the user quits (q, SIGINT). Does not print
 * the last report. 0, or a negative code of the input, the study or the output.
 */
int top_live_run(struct top_live *live, struct bt_error *error);

#endif
