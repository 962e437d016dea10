/*
 * One configured capture and its board's lifetime: a thread that opens the board, watches the
 * capture, and retries if the board is missing or disconnects. Only runner_free waits for it.
 */
#ifndef HOST_RUNNER_H
#define HOST_RUNNER_H

#include "capture/capture.h"
#include "host/config.h"
#include "host/journal.h"

struct runner;

/* The states of capture/control_protocol.h. */
enum runner_state {
    RUNNER_STOPPED,
    RUNNER_STARTING,
    RUNNER_RUNNING,
    RUNNER_STOPPING,
    RUNNER_FINISHED,
    RUNNER_WAITING,
    RUNNER_STATES
};

struct runner_report {
    enum runner_state state;
    uint64_t starts;       /* captures begun */
    int64_t gap_ns;        /* time without a capture between two of them, unless requested */
    struct bt_error error; /* why it waits, does not start or failed; else empty */
    uint64_t snapshot; /* number of the last one requested from the capture that runs; 0: none */
    bool has_status;
    struct capture_status status; /* of the current or last capture */
};

/*
 * Makes the thread; the capture starts if its configuration says so. settings, journal and
 * files_lock (capture/capture.h) must outlive the runner. wake is an eventfd that is written at
 * every change of state. NULL and *error on failure.
 */
struct runner *runner_new(const struct config_capture *settings, const struct journal *journal,
                          pthread_mutex_t *files_lock, int wake, struct bt_error *error);

/* Stops the capture, waits for its files to be complete, leaves their commands, frees. NULL is
 * allowed. */
void runner_free(struct runner *runner);

/* Any thread; they return at once. */
void runner_start(struct runner *runner);
void runner_stop(struct runner *runner);
/* A device was plugged in: a capture that waits for its board retries at once. */
void runner_poke(struct runner *runner);
/* False if the capture does not run. */
bool runner_rotate(struct runner *runner);

/* Requests a snapshot. 0, or BT_USAGE if the capture does not run or keeps no records for one. */
int runner_snapshot(struct runner *runner, struct bt_error *error);
/* Whether the capture runs, and the snapshot's file is not complete yet; for at most half a minute.
 * The eventfd is written at the end. */
bool runner_snapshot_pending(struct runner *runner);

/* Abandons the source of a capture that runs, and waits until the capture has ended, up to
 * until_ms (clock_monotonic_ms). Returns whether no capture runs then. Any thread. */
bool runner_flush(struct runner *runner, int64_t until_ms);

/* The number of complete files whose command has not ended. */
uint64_t runner_commands_left(struct runner *runner);

/* Whether a capture runs, or is being stopped. */
bool runner_has_capture(struct runner *runner);

/* Whether the capture needs the machine: more than a quarter of its queue is in use, or it is being
 * stopped. */
bool runner_has_backlog(struct runner *runner);

/* A complete file has another name now: the status shows it. */
void runner_file_moved(struct runner *runner, const char *from, const char *to);

enum runner_state runner_state(struct runner *runner);
void runner_report(struct runner *runner, struct runner_report *report);
const struct config_capture *runner_settings(const struct runner *runner);

/* "running", ... */
const char *runner_state_name(enum runner_state state);

#endif
