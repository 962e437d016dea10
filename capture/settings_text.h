/*
 * Settings as users write them, on the command line and in bustapd's configuration:
 *
 *   rotate   size=64M | time=10m | every=1h
 *   stop     time=10s | records=1M | size=1G | files=3
 *   queue    64M
 *   ring     64M
 *   disk-full  end | wait
 *   engine   records | programs | columns | blocks | isa-l | libdeflate | zlib
 *   reconnect  forever | never | 10m
 */
#ifndef CAPTURE_SETTINGS_TEXT_H
#define CAPTURE_SETTINGS_TEXT_H

#include "capture/capture.h"
#include "driver/session.h"

/* Each sets one rule; the last one wins. 0, or BT_USAGE with the allowed values. */
int settings_text_rotate(struct capture_settings *settings, const char *text,
                         struct bt_error *error);
int settings_text_stop(struct capture_settings *settings, const char *text, struct bt_error *error);

/* The reaction to a full disk: "end" or "wait". 0, or BT_USAGE. */
int settings_text_disk_full(struct capture_settings *settings, const char *text,
                            struct bt_error *error);

/* The compressor, and its level, which rules_check() compares. 0, or BT_USAGE. */
int settings_text_engine(struct capture_settings *settings, const char *text,
                         struct bt_error *error);
int settings_text_engine_level(struct capture_settings *settings, const char *text,
                               struct bt_error *error);

/* How long to wait for a missing board: "never", "forever" or a time. 0, or BT_USAGE. */
int settings_text_reconnect(struct session_settings *settings, const char *text,
                            struct bt_error *error);

/* What is kept before and after a match: a number of records, a time or ticks. 0, or BT_USAGE. */
int settings_text_pre(struct trigger_settings *trigger, const char *text, struct bt_error *error);
int settings_text_post(struct trigger_settings *trigger, const char *text, struct bt_error *error);

/* Sets the memory for records before a match. 0, or BT_USAGE. */
int settings_text_ring(struct trigger_settings *trigger, const char *text, struct bt_error *error);

/* Copies an expression of a trigger. 0, or BT_USAGE. */
int settings_text_trigger(char out[TRIGGER_TEXT_BYTES], const char *text, struct bt_error *error);

/* Sets the queue's size. 0, or BT_USAGE. */
int settings_text_queue(struct capture_settings *settings, const char *text,
                        struct bt_error *error);

#endif
