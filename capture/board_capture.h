/* Starts a capture from a board's specification. */
#ifndef CAPTURE_BOARD_CAPTURE_H
#define CAPTURE_BOARD_CAPTURE_H

#include "capture/capture.h"
#include "driver/session.h"

/*
 * Opens the board that specification names (driver/boards.h), identifies it, allocates the capture,
 * arms the board with session, and with what it can do of session->filter_text, an expression of
 * doc/filter.md (NULL: session->filter alone); the host does the rest. Captures its records, across
 * reconnections. The settings are checked before the board is opened. NULL and *error on failure.
 * Takes as long as the board takes to answer, seconds at worst.
 */
struct capture *board_capture_new(const char *specification,
                                  const struct session_settings *session_settings,
                                  const struct capture_settings *capture_settings,
                                  struct bt_error *error);

#endif
