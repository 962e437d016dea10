/*
 * What the daemon tells its operator, one line each, on a stream of its choice; with the priorities
 * of the system's journal where that is who reads (sd-daemon(3)). Any thread.
 */
#ifndef HOST_JOURNAL_H
#define HOST_JOURNAL_H

#include <stdbool.h>
#include <stdio.h>

/* syslog(3)'s numbers */
enum journal_level { JOURNAL_ERROR = 3, JOURNAL_WARNING = 4, JOURNAL_INFO = 6 };

struct journal {
    FILE *stream;
    bool priorities; /* each line starts with <N> */
};

/* For standard error, as it is connected now. */
struct journal journal_standard_error(void);

void journal_write(const struct journal *journal, enum journal_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
