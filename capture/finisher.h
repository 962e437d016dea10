/*
 * The last stage: synchronizes written files, renames them and removes files that leave the ring.
 * It has a separate thread because a sync can take seconds.
 */
#ifndef CAPTURE_FINISHER_H
#define CAPTURE_FINISHER_H

#include "capture/pipeline_internal.h"

/* Starts the thread. NULL and *error on failure. */
struct finisher *finisher_new(struct capture *capture, struct bt_error *error);

/* A closed file. */
struct finished_file {
    struct file_name name;
    int descriptor;
    uint64_t snapshots; /* that many snapshots are complete with it */
    uint64_t records, lost;
    const char *reason; /* why it was closed */
};

/* Passes on a file, with its descriptor. Blocks while many files are waiting. */
void finisher_put(struct finisher *finisher, const struct finished_file *file);

/* Waits until every file that was put is finished, and ends the thread. */
void finisher_join(struct finisher *finisher);
void finisher_free(struct finisher *finisher);

/* The oldest name that was not yet taken; false if there is none. */
bool finisher_take_name(struct finisher *finisher, struct file_name *name);

#endif
