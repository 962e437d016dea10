/*
 * When losses begin and when they end, for people: not each block that lost something, but each
 * time of losses, with a quiet time behind it. Pure: the caller says what time it is.
 */
#ifndef CAPTURE_LOSS_WATCH_H
#define CAPTURE_LOSS_WATCH_H

#include "formats/batch.h"

#define LOSS_WATCH_QUIET_NS INT64_C(5000000000)
#define LOSS_WATCH_BYTES    400u

struct loss_watch {
    struct loss lost;            /* since the losses began; none: nothing is being lost */
    int64_t began_ns, latest_ns; /* monotonic */
};

/* Counts what was lost. True: losses begin with it, and text says so. */
bool loss_watch_add(struct loss_watch *watch, const struct loss *lost, int64_t now_ns,
                    char text[LOSS_WATCH_BYTES]);

/* True: nothing has been lost for the quiet time, or the capture has ended, and text says what the
 * losses were that are over. */
bool loss_watch_over(struct loss_watch *watch, int64_t now_ns, bool ended,
                     char text[LOSS_WATCH_BYTES]);

#endif
