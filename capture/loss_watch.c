#include "capture/loss_watch.h"

#include <inttypes.h>
#include <stdio.h>

bool loss_watch_add(struct loss_watch *watch, const struct loss *lost, int64_t now_ns,
                    char text[LOSS_WATCH_BYTES])
{
    char stages[LOSS_TEXT_BYTES];
    if (loss_total(lost) == 0)
        return false;
    bool begins = loss_total(&watch->lost) == 0;
    loss_add(&watch->lost, lost);
    watch->latest_ns = now_ns;
    if (!begins)
        return false;
    watch->began_ns = now_ns;
    snprintf(text, LOSS_WATCH_BYTES, "losses began at tick %" PRIu64 " (%s so far)",
             lost->first_tick, loss_text(stages, lost->count));
    return true;
}

bool loss_watch_over(struct loss_watch *watch, int64_t now_ns, bool ended,
                     char text[LOSS_WATCH_BYTES])
{
    const struct loss *lost = &watch->lost;
    char stages[LOSS_TEXT_BYTES];
    if (loss_total(lost) == 0 || (!ended && now_ns - watch->latest_ns < LOSS_WATCH_QUIET_NS))
        return false;
    snprintf(text, LOSS_WATCH_BYTES,
             "losses ended at tick %" PRIu64 " after %.1f s: %" PRIu64 " lost since tick %" PRIu64
             " (%s)",
             lost->last_tick, (double)(watch->latest_ns - watch->began_ns) / 1e9, loss_total(lost),
             lost->first_tick, loss_text(stages, lost->count));
    *watch = (struct loss_watch){.began_ns = 0};
    return true;
}
