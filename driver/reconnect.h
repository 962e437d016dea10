/*
 * A board as a source that outlives its cable: where the board goes away in the middle of a
 * capture, the source waits for the same board and goes on, in the same session where the board
 * kept it. What is missing is told as a loss, and when nobody listened as a gap.
 */
#ifndef DRIVER_RECONNECT_H
#define DRIVER_RECONNECT_H

#include "driver/session.h"

/* Opens a board by its specification: boards_open, or a test's own. */
typedef int reconnect_open(struct stream **stream, const char *specification,
                           struct bt_error *error);

/*
 * Opens and identifies the board that specification names; source_start arms it.
 * settings->reconnect_ns is how long a board that went away is waited for; those that cannot come
 * back (virtual ones) are not.
 *
 * The source answers BT_NOTE when the board goes away, when it is back, and when another reason
 * keeps it away; source_absent tells while it is. Stopped while the board is away it says so with
 * BT_DATA, and ends.
 *
 * NULL and *error on failure.
 */
struct source *reconnect_source(reconnect_open *open, const char *specification,
                                const struct session_settings *settings, struct bt_error *error);

#endif
