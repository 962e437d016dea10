/*
 * When losses begin and when they end, for messages: one period of losses may span many blocks, and
 * ends when nothing has been lost for LOSS_WATCH_QUIET_NS. The caller passes the time.
 */
#ifndef CAPTURE_LOSS_WATCH_H
#define CAPTURE_LOSS_WATCH_H

#include "formats/record/batch.h"

#define LOSS_WATCH_QUIET_NS INT64_C(5000000000)
#define LOSS_WATCH_BYTES    400u

struct loss_watch {
    struct loss lost;            /* since the losses began; none: nothing is being lost */
    int64_t began_ns, latest_ns; /* monotonic */
};

/* Counts what was lost. True: losses begin with it, and text says so. */
bool loss_watch_add(struct loss_watch *watch, const struct loss *lost, int64_t now_ns,
                    char text[LOSS_WATCH_BYTES]);

/* True: losses have ended, because nothing was lost for the quiet time or because the capture
 * ended; text sums them up. */
bool loss_watch_over(struct loss_watch *watch, int64_t now_ns, bool ended,
                     char text[LOSS_WATCH_BYTES]);

#endif
