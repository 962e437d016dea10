/*
 * The reports of `bustap capture` on standard error: a live line on a terminal, notes, a summary
 * at the end. Printing never blocks on the terminal or another reader.
 */
#ifndef TOOLS_CAPTURE_CAPTURE_REPORT_H
#define TOOLS_CAPTURE_CAPTURE_REPORT_H

#include "capture/capture.h"
#include "capture/line_queue.h"

struct capture_report {
    struct line_queue *lines;
    bool stalled; /* the reader does not read the lines */
    bool wanted;  /* show a live line: standard error is a terminal */
    bool shown;
    int64_t shown_ns;      /* CLOCK_MONOTONIC */
    uint64_t last_records; /* records at the previous line, for the rate */
    int64_t last_elapsed_ns;
};

/* Begins the report. quiet: without a live line. 0, or BT_MEMORY with *error. */
int capture_report_begin(struct capture_report *report, bool quiet, struct bt_error *error);

/* Waits up to timeout_ms for the reader, then frees the report. */
void capture_report_end(struct capture_report *report, int timeout_ms);

/* Prints "bustap: " and a line, without control characters. */
void capture_report_say(struct capture_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints a sentence, in any thread: receives the reports of struct file_command_settings. */
void capture_report_sentence(void *report, const char *sentence);

/*
 * Waits until the command of --exec-on-file was run for all files, and reports that. Calls
 * is_enough, which may wait itself, every poll_ms; true ends the wait. Returns whether it did.
 * command may be NULL.
 */
bool capture_report_wait(struct capture_report *report, struct file_command *command, int poll_ms,
                         bool (*is_enough)(void *context), void *context);

/* Whether the command of --exec-on-file failed, or was not run, for a file: the exit status is then
 * STATUS_IO. */
bool capture_report_command_failed(const struct file_command_counts *counts);

/* Prints the error. Returns the exit status for it. */
int capture_report_failure(struct capture_report *report, const struct bt_error *error);

/* Updates the live line, a few times a second, unless the previous one is still unread. */
void capture_report_live(struct capture_report *report, struct capture *capture);

/* Clears the live line. */
void capture_report_clear(struct capture_report *report);

/* Prints the live line as a permanent line, also without a terminal. */
void capture_report_line(struct capture_report *report, struct capture *capture);

/* Prints the capture's notes since the last call (capture_take_note). */
void capture_report_notes(struct capture_report *report, struct capture *capture);

/* Prints the summary of a capture that has ended. */
void capture_report_summary(struct capture_report *report, const struct capture_status *status);

#endif
