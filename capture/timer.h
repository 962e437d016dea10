/*
 * When the next file is due by time: after an interval on the monotonic clock, at a multiple of a
 * period on the wall clock, or both. Pure: the caller passes the time.
 */
#ifndef CAPTURE_TIMER_H
#define CAPTURE_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#define TIMER_NEVER INT64_MAX

struct rotation_timer {
    int64_t interval_ns; /* 0: none */
    int64_t period_ns;   /* 0: none */
    int64_t started_ns;  /* monotonic: when the current file began */
    int64_t boundary_ns; /* realtime: the next multiple of period_ns */
};

/* Starts a timer for a file that begins now. */
void rotation_timer_start(struct rotation_timer *timer, int64_t interval_ns, int64_t period_ns,
                          int64_t monotonic_ns, int64_t realtime_ns);

/* A file began for another reason (its size), at monotonic_ns. */
void rotation_timer_file_began(struct rotation_timer *timer, int64_t monotonic_ns);

/* Whether a new file is due; if so the timer advances to the next one. Missed periods count once.
 */
bool rotation_timer_due(struct rotation_timer *timer, int64_t monotonic_ns, int64_t realtime_ns);

/* How long until a file is due, in ns, 0 at least; TIMER_NEVER. */
int64_t rotation_timer_left(const struct rotation_timer *timer, int64_t monotonic_ns,
                            int64_t realtime_ns);

#endif
