/*
 * The last stage: brings written files to the disk, gives them their names, removes those that fall
 * out of the ring. In a thread of its own, because a sync can take seconds.
 */
#ifndef CAPTURE_FINISHER_H
#define CAPTURE_FINISHER_H

#include "capture/pipeline_internal.h"

/* Starts the thread. NULL and *error on failure. */
struct finisher *finisher_new(struct capture *capture, struct bt_error *error);

/* Hands a closed file over, with its descriptor. Waits while many files are waiting. */
void finisher_put(struct finisher *finisher, const struct file_name *name, int descriptor);

/* Waits until every file that was put is done with, and ends the thread. */
void finisher_join(struct finisher *finisher);
void finisher_free(struct finisher *finisher);

/* The next name nobody has taken; false if there is none. */
bool finisher_take_name(struct finisher *finisher, struct file_name *name);

#endif
