/*
 * Tells when something was plugged in that may be a board, so that whoever misses one need not wait
 * for their next attempt. Any USB device counts: a board may have ids of its own.
 */
#ifndef DRIVER_BOARDS_WATCH_H
#define DRIVER_BOARDS_WATCH_H

#include <stdbool.h>

struct boards_watch;

/* What is plugged in now is no news. NULL: no memory. Where USB cannot be used the watch never sees
 * anything, until it can. */
struct boards_watch *boards_watch_new(void);

/* Nobody may be waiting. NULL is allowed. */
void boards_watch_free(struct boards_watch *watch);

/*
 * Waits up to timeout_ms (< 0: for ever) until something was plugged in, or became open to us,
 * since the last call; one thread at a time. True if so; false after the time, or when woken. Hears
 * of it at once where udevd runs, else within about a second.
 */
bool boards_watch_wait(struct boards_watch *watch, int timeout_ms);

/* Has the wait that goes on, or the next one, return at once. Any thread. */
void boards_watch_wake(struct boards_watch *watch);

#endif
