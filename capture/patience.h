/*
 * Requests to end that come as signals. One request may arrive as several signals: timeout(1), sudo
 * and containers signal a process and its group, so that it receives each signal twice within
 * microseconds. Signals that come within half a second of the first one belong to the same request.
 *
 * A signal that is pending may be old, because its process was busy or stopped. The half second is
 * over only when no signal was pending after it.
 */
#ifndef CAPTURE_PATIENCE_H
#define CAPTURE_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#define PATIENCE_NS INT64_C(500000000)

struct patience {
    int64_t asked_ns; /* CLOCK_MONOTONIC, of the request's first signal; 0: no request */
    bool over;        /* the next signal is another request */
};

/* A signal was taken at now_ns. Returns whether it is a request of its own. */
bool patience_ask(struct patience *patience, int64_t now_ns);

/* No signal is pending at now_ns. Returns the time in ns after which this is to be said again;
 * INT64_MAX: not before the next request. */
int64_t patience_quiet(struct patience *patience, int64_t now_ns);

#endif
