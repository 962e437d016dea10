/* The one way from a board's specification to a running capture. */
#ifndef CAPTURE_BOARD_CAPTURE_H
#define CAPTURE_BOARD_CAPTURE_H

#include "capture/capture.h"
#include "driver/session.h"

/*
 * Opens the board that specification names (driver/boards.h), identifies it, makes all that a
 * capture needs, arms the board with session and captures what it sends, also behind an absence of
 * the board. The settings are checked before the board is touched. NULL and *error on failure.
 * Takes as long as the board takes to answer, seconds at worst.
 */
struct capture *board_capture_new(const char *specification,
                                  const struct session_settings *session_settings,
                                  const struct capture_settings *capture_settings,
                                  struct bt_error *error);

#endif
