/*
 * Options of the commands that write captures: for tables of options whose settings begin with a
 * struct capture_settings.
 */
#ifndef TOOLS_CAPTURE_CAPTURE_OPTIONS_H
#define TOOLS_CAPTURE_CAPTURE_OPTIONS_H

#include "capture/capture.h"

/* Each takes one option's argument, as struct option_row has it. */
int capture_option_output(void *settings, const char *argument, struct bt_error *error);
int capture_option_rotate(void *settings, const char *argument, struct bt_error *error);
int capture_option_engine(void *settings, const char *argument, struct bt_error *error);
int capture_option_level(void *settings, const char *argument, struct bt_error *error);
int capture_option_queue(void *settings, const char *argument, struct bt_error *error);
int capture_option_disk_full(void *settings, const char *argument, struct bt_error *error);

/* The place of argument among two words, or BT_USAGE. */
int capture_option_choose(const char *argument, const char *first, const char *second,
                          struct bt_error *error);

#endif
