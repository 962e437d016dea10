/* A line on the terminal that says how far a long job is. Silent where standard error is none. */
#ifndef TOOLS_COMMON_PROGRESS_H
#define TOOLS_COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool wanted;
    bool shown; /* there is a line on the terminal now */
    int64_t started_ns, shown_ns;
};

/* Begins: nothing is shown in the first second. Not either where standard output is a terminal too,
 * unless quiet_output says that nothing goes there. */
void progress_begin(struct progress *progress, bool quiet_output);

/* Shows done of total bytes (0: unknown) of path, a few times a second. */
void progress_show(struct progress *progress, const char *path, uint64_t done, uint64_t total);

/* Takes the line away, so that something else can be printed. */
void progress_clear(struct progress *progress);

#endif
