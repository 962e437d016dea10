/* The settings of a capture: their check, their defaults, the sizes derived from them. */
#ifndef CAPTURE_RULES_H
#define CAPTURE_RULES_H

#include "capture/capture.h"

#define RULES_FILE_BYTES_MIN  4096u    /* the smallest rotate_bytes and stop_bytes */
#define RULES_KEEP_MAX        1000000u /* files in a ring */
#define RULES_WORKERS_MAX     64u
#define RULES_QUEUE_MAX       (UINT64_C(1) << 36)
#define RULES_QUEUE_TOO_LARGE "a queue of more than 64G is not possible"

/* Refuses a prefix that cannot begin file names: 0 or BT_USAGE. */
int rules_check_prefix(const char *prefix, struct bt_error *error);

/* Refuses invalid settings: 0, or BT_USAGE with the setting and its allowed values. */
int rules_check(const struct capture_settings *settings, struct bt_error *error);

/* Replaces every "0: the default" by the default. settings passed rules_check. */
void rules_complete(struct capture_settings *settings);

/* Blocks in the queue, and finished members between workers and writer; of completed settings. */
size_t rules_blocks(const struct capture_settings *settings);
size_t rules_members(const struct capture_settings *settings);

/* Segments of the feed of a block, if the source fills it; 0: the engine has no use for it. */
size_t rules_segments(const struct capture_settings *settings);

#endif
