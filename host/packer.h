/*
 * Packs complete files of the captures (pack-after, pack-level) in a thread that runs only when
 * nothing else does, while the captures have no backlog. bustapd(8), "PACKED FILES".
 */
#ifndef HOST_PACKER_H
#define HOST_PACKER_H

#include "capture/file_set.h"
#include "host/runner.h"

struct packer;

/* What the packer does for a capture. */
enum packer_state {
    PACKER_OFF,     /* the configuration does not ask for it */
    PACKER_WAITING, /* for files that are old enough */
    PACKER_BUSY,    /* it packs a file, */
    PACKER_HELD,    /* or would, if no capture had a backlog or a command for files, and there were
                       room on the disk */
    PACKER_STATES
};

/* Since the start of the daemon. */
struct packer_report {
    enum packer_state state;
    uint64_t files;               /* packed */
    uint64_t bytes_before, bytes; /* of these */
    uint64_t stays;               /* files that would be larger */
    uint64_t failed;
    char file[FILE_SET_PATH_BYTES]; /* the file that is being packed; empty: none */
    struct bt_error error;          /* the last failure; code 0: none since a file was packed */
};

/* Makes a packer for the captures of a configuration; nothing is packed yet. The journal must
 * outlive it. NULL and *error: BT_MEMORY. */
struct packer *packer_new(const struct config *config, const struct journal *journal,
                          struct bt_error *error);

/* The lock of a capture's files, for runner_new. */
pthread_mutex_t *packer_files_lock(struct packer *packer, size_t capture);

/* Starts the thread, if a capture asks for it. The runners, one for each capture, must outlive the
 * packer. 0 or BT_MEMORY. */
int packer_start(struct packer *packer, struct runner *const *runners, struct bt_error *error);

/* Ends the work at once: the file that is being packed stays as it is. Does not wait. */
void packer_stop(struct packer *packer);

/* Stops and frees. A thread that is in the middle of a block is left to the end of the process; it
 * changes no file any more. NULL is allowed. */
void packer_free(struct packer *packer);

/* Any thread. */
void packer_get_report(struct packer *packer, size_t capture, struct packer_report *report);

/* "waiting", ... */
const char *packer_state_name(enum packer_state state);

#endif
