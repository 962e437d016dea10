/* A progress line of a long job; none if standard error is not a terminal. */
#ifndef TOOLS_COMMON_PROGRESS_H
#define TOOLS_COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool wanted;
    bool shown; /* a line is on the terminal */
    int64_t started_ns, shown_ns;
};

/* Begins a job. Nothing is shown in its first second, nor if standard output is a terminal, too.
 * quiet_output: standard output gets nothing during the job and may be a terminal. */
void progress_begin(struct progress *progress, bool quiet_output);

/* Shows done of total bytes (0: unknown) of path, at most five times a second. */
void progress_show(struct progress *progress, const char *path, uint64_t done, uint64_t total);

/* Clears the line, so that something else can be printed. */
void progress_clear(struct progress *progress);

#endif
