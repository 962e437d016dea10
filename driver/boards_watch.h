/*
 * Reports when a USB device is plugged in, so that the caller can retry a missing board at once.
 * Any device counts, because a board may have private ids.
 */
#ifndef DRIVER_BOARDS_WATCH_H
#define DRIVER_BOARDS_WATCH_H

#include <stdbool.h>

struct boards_watch;

/* Devices that are already plugged in are not reported. NULL: no memory. The watch reports nothing
 * while USB cannot be used. */
struct boards_watch *boards_watch_new(void);

/* No thread may be in boards_watch_wait. NULL is allowed. */
void boards_watch_free(struct boards_watch *watch);

/*
 * Waits up to timeout_ms (< 0: for ever) until a device was plugged in, or became accessible, since
 * the last call; one thread at a time. True if so; false on time-out or when woken. The delay is
 * about a second if udevd does not run.
 */
bool boards_watch_wait(struct boards_watch *watch, int timeout_ms);

/* Makes the current wait, or the next one, return at once. Any thread may call it. */
void boards_watch_wake(struct boards_watch *watch);

#endif
