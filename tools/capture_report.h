/* What `bustap capture` tells people: a live line on a terminal, a summary at the end. */
#ifndef TOOLS_CAPTURE_REPORT_H
#define TOOLS_CAPTURE_REPORT_H

#include "capture/capture.h"

struct capture_report {
    bool wanted; /* a live line: standard error is a terminal */
    bool shown;
    int64_t shown_ns;      /* CLOCK_MONOTONIC */
    uint64_t last_records; /* when a line was shown last, for the rate */
    int64_t last_elapsed_ns;
};

void capture_report_begin(struct capture_report *report, bool quiet);

/* Renews the live line, a few times a second. */
void capture_report_live(struct capture_report *report, struct capture *capture);

/* Takes the live line away. */
void capture_report_clear(struct capture_report *report);

/* Prints the same as a line that stays, terminal or not. */
void capture_report_line(struct capture_report *report, struct capture *capture);

/* Prints what the capture has to tell since the last call (capture_take_note). */
void capture_report_notes(struct capture_report *report, struct capture *capture);

/* Prints the summary of a capture that has ended. */
void capture_report_summary(const struct capture_status *status);

#endif
