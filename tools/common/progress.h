/* A progress line of a long job; none if standard error is not a terminal. */
#ifndef TOOLS_COMMON_PROGRESS_H
#define TOOLS_COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress_clock;

struct progress {
    bool wanted;
    bool shown; /* a line is on the terminal */
    int64_t started_ns, shown_ns;
    struct progress_clock *clock; /* shows the seconds of a step; NULL: no step runs */
};

/* Begins a job. Nothing is shown in its first second, nor if standard output is a terminal, too.
 * quiet_output: standard output gets nothing during the job and may be a terminal. */
void progress_begin(struct progress *progress, bool quiet_output);

/* Shows done of total bytes (0: unknown) of path, at most five times a second. */
void progress_show(struct progress *progress, const char *path, uint64_t done, uint64_t total);

/* Begins a step whose length is not known, such as "sorting": a thread shows its seconds until the
 * next call of another function. The caller prints nothing meanwhile. */
void progress_step(struct progress *progress, const char *step);

/* Clears the line, so that something else can be printed. */
void progress_clear(struct progress *progress);

#endif
