/*
 * Detects when losses begin and end, for messages: a period of losses may span many blocks and ends
 * when nothing has been lost for LOSS_WATCH_QUIET_NS. The caller passes the time.
 */
#ifndef CAPTURE_LOSS_WATCH_H
#define CAPTURE_LOSS_WATCH_H

#include "formats/record/batch.h"

#define LOSS_WATCH_QUIET_NS INT64_C(5000000000)
#define LOSS_WATCH_BYTES    400u

struct loss_watch {
    struct loss lost;            /* since the period began; none: there is no period */
    int64_t began_ns, latest_ns; /* monotonic */
};

/* Adds a loss. True: it begins a period of losses, and text reports that. */
bool loss_watch_add(struct loss_watch *watch, const struct loss *lost, int64_t now_ns,
                    char text[LOSS_WATCH_BYTES]);

/* True: the period of losses has ended, because of the quiet time or because the capture ended;
 * text sums it up. */
bool loss_watch_over(struct loss_watch *watch, int64_t now_ns, bool ended,
                     char text[LOSS_WATCH_BYTES]);

#endif
