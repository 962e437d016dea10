/*
 * A board as a source that survives a disconnect: if the board disconnects during a capture, the
 * source waits for the same board and continues, in the same session if the board kept it. Batches
 * report missing requests as a loss and the disconnected time as a gap.
 */
#ifndef DRIVER_RECONNECT_H
#define DRIVER_RECONNECT_H

#include "driver/session.h"

/* Opens a board by its specification: boards_open, or a test's function. */
typedef int reconnect_open(struct stream **stream, const char *specification,
                           struct bt_error *error);

/*
 * Opens and identifies the board that specification names; source_start arms it.
 * settings->reconnect_ns is how long the source waits for a disconnected board. It does not wait
 * for boards that cannot reconnect (virtual ones).
 *
 * source_next returns BT_NOTE when the board disconnects, when it is back, and when an attempt to
 * reconnect fails for a new reason; source_absent gives the reason meanwhile. If the source is
 * stopped while the board is disconnected, source_next reports that with BT_DATA and then ends.
 *
 * NULL and *error on failure.
 */
struct source *reconnect_source(reconnect_open *open, const char *specification,
                                const struct session_settings *settings, struct bt_error *error);

#endif
