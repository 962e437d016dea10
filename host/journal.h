/*
 * The daemon's messages to its operator, one line each, with priorities if they go to the system's
 * journal (sd-daemon(3)). Any thread; never blocks on the reader.
 */
#ifndef HOST_JOURNAL_H
#define HOST_JOURNAL_H

#include "capture/line_queue.h"

#include <stdbool.h>

/* syslog(3)'s numbers */
enum journal_level { JOURNAL_ERROR = 3, JOURNAL_WARNING = 4, JOURNAL_INFO = 6 };

struct journal {
    struct line_queue *lines; /* NULL: nothing is written */
    bool priorities;          /* each line starts with <N> */
};

/* To standard error, as it is connected now. 0 or BT_MEMORY with *error. */
int journal_open(struct journal *journal, struct bt_error *error);

/* Waits up to timeout_ms for the reader to take all lines. Other threads may continue to write.
 */
void journal_flush(const struct journal *journal, int timeout_ms);

/* Flushes and frees. No other thread may write any more. */
void journal_close(struct journal *journal, int timeout_ms);

/* Control characters are replaced: a message is one line. */
void journal_write(const struct journal *journal, enum journal_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Lines that were dropped because the reader stalled. */
uint64_t journal_dropped(const struct journal *journal);

#endif
