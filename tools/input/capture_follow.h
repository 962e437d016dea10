/*
 * Follows a running capture: the records of its files, in order, while they are written, across
 * rotations, as `tail -F` follows a log.
 */
#ifndef TOOLS_INPUT_CAPTURE_FOLLOW_H
#define TOOLS_INPUT_CAPTURE_FOLLOW_H

#include "formats/record/source.h"

/*
 * Follows the newest capture to prefix, from the first of its files that is still there; waits for
 * one if there is none. The source's next returns BT_TIMEOUT while nothing is written, BT_DATA for
 * corruption, files that a ring removed before they were read, and a capture that was killed, and 0
 * after the capture's last record. Its info is all zero until the first batch; its stop may be
 * called from any thread, and ends it at once. 0 and *source, closed with source_close; BT_USAGE or
 * BT_MEMORY.
 */
int capture_follow_open(struct source **source, const char *prefix, struct bt_error *error);

/* The closing member read last; NULL if there was none. */
const struct capture_totals *capture_follow_closing(const struct source *source);

#endif
