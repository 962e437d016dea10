#include "capture/timer.h"

static int64_t next_multiple(int64_t period, int64_t now)
{
    int64_t multiple = now / period * period;
    return multiple > INT64_MAX - period ? INT64_MAX : multiple + period;
}

void rotation_timer_start(struct rotation_timer *timer, int64_t interval_ns, int64_t period_ns,
                          int64_t monotonic_ns, int64_t realtime_ns)
{
    timer->interval_ns = interval_ns;
    timer->period_ns = period_ns;
    timer->started_ns = monotonic_ns;
    timer->boundary_ns = period_ns > 0 ? next_multiple(period_ns, realtime_ns) : TIMER_NEVER;
}

void rotation_timer_file_began(struct rotation_timer *timer, int64_t monotonic_ns)
{
    if (monotonic_ns > timer->started_ns)
        timer->started_ns = monotonic_ns;
}

/* After the wall clock was set back, the boundary may be more than a period away: it is then
 * computed again. */
static bool boundary_is_lost(const struct rotation_timer *timer, int64_t realtime_ns)
{
    return timer->boundary_ns - realtime_ns > timer->period_ns;
}

bool rotation_timer_due(struct rotation_timer *timer, int64_t monotonic_ns, int64_t realtime_ns)
{
    bool due = false;
    if (timer->interval_ns > 0 && monotonic_ns - timer->started_ns >= timer->interval_ns)
        due = true;
    if (timer->period_ns > 0) {
        due = due || realtime_ns >= timer->boundary_ns;
        if (realtime_ns >= timer->boundary_ns || boundary_is_lost(timer, realtime_ns))
            timer->boundary_ns = next_multiple(timer->period_ns, realtime_ns);
    }
    if (due)
        timer->started_ns = monotonic_ns;
    return due;
}

int64_t rotation_timer_left(const struct rotation_timer *timer, int64_t monotonic_ns,
                            int64_t realtime_ns)
{
    int64_t left = TIMER_NEVER;
    if (timer->interval_ns > 0) {
        int64_t since = monotonic_ns - timer->started_ns;
        left = since >= timer->interval_ns ? 0 : timer->interval_ns - since;
    }
    if (timer->period_ns > 0) {
        int64_t boundary = realtime_ns >= timer->boundary_ns ? 0 : timer->boundary_ns - realtime_ns;
        left = boundary < left ? boundary : left;
    }
    return left;
}
