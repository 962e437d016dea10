/*
 * Settings as users write them, on the command line and in bustapd's configuration:
 *
 *   rotate   size=64M | time=10m | every=1h
 *   stop     time=10s | records=1M | size=1G | files=3
 *   queue    64M
 *   disk-full  end | wait
 *   reconnect  forever | never | 10m
 */
#ifndef CAPTURE_SETTINGS_TEXT_H
#define CAPTURE_SETTINGS_TEXT_H

#include "capture/capture.h"
#include "driver/session.h"

/* Each sets one rule; a rule given twice is the later one. 0, or BT_USAGE with what is allowed. */
int settings_text_rotate(struct capture_settings *settings, const char *text,
                         struct bt_error *error);
int settings_text_stop(struct capture_settings *settings, const char *text, struct bt_error *error);

/* What a full disk does to a capture: "end" or "wait". 0, or BT_USAGE. */
int settings_text_disk_full(struct capture_settings *settings, const char *text,
                            struct bt_error *error);

/* How long a board that went away is waited for: "never", "forever" or a time. 0, or BT_USAGE. */
int settings_text_reconnect(struct session_settings *settings, const char *text,
                            struct bt_error *error);

/* Sets the queue's size. 0, or BT_USAGE. */
int settings_text_queue(struct capture_settings *settings, const char *text,
                        struct bt_error *error);

#endif
