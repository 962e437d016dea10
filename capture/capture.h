/*
 * The capture: from a source to rolling files.
 *
 *   source thread -> bounded queue of preallocated batches -> compression workers -> ordered writer
 *                 -> files under temporary names -> finisher: sync, rename, ring of N
 */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include "capture/file_command.h"
#include "capture/trigger_source.h"
#include "formats/capture/capture_file.h"
#include "formats/record/source.h"

#include <pthread.h>

struct capture;

/* Reaction to a full host queue. */
enum capture_when_full {
    CAPTURE_WAIT, /* stop reading: the board's queue fills, then counts its losses */
    CAPTURE_DROP  /* keep reading; drop records and count them at stage "queue" */
};

/* A limit of 0: no limit. Times in ns. */
struct capture_settings {
    char prefix[4096];       /* files are PREFIX_00001_20261120T224500Z.byu.gz; missing folders are
                                created. "-": one stream on standard output, in which files
                                follow one another */
    uint64_t rotate_bytes;   /* maximum size of a file, unless one block is larger */
    int64_t rotate_ns;       /* maximum age of a file */
    int64_t rotate_every_ns; /* a new file at each multiple of this since 1970 UTC */
    bool append;             /* the prefix may have files of earlier captures */
    uint32_t keep;   /* complete files kept per prefix; older ones are removed, including those
                        of earlier captures */
    int64_t stop_ns; /* maximum duration */
    uint64_t stop_records;  /* number of records, exactly, unless the source ends before */
    uint64_t stop_bytes;    /* maximum total size of the files */
    uint64_t stop_files;    /* number of files; needs one of the rotate_ limits */
    unsigned workers;       /* compression threads; 0: one per processor */
    size_t queue_bytes;     /* maximum size of queued records; 0: 64 MiB */
    uint32_t block_records; /* records per member; 0: CAPTURE_BLOCK_RECORDS, less where rotate_bytes
                               is small */
    int64_t flush_ns;       /* maximum time until an incomplete block is written; 0: 1 s, or 0.2 s
                               to standard output */
    enum record_engine engine; /* decides on the names, too: .byb if its files have version 2 */
    int level;                 /* -1: the engine's default */
    enum capture_when_full when_full;
    bool wait_for_room; /* a full disk: drop records and count them at stage "disk" until there is
                           room; otherwise the capture ends */
    struct trigger_settings trigger; /* files hold windows around matches; a stop at a match */
    struct file_command *on_file; /* runs for each complete file, and outlives the capture; NULL: no
                                     command */
    pthread_mutex_t *files_lock;  /* held while complete files are named, given to on_file, and
                                     removed; outlives the capture; NULL: none */
    bool names;                   /* keep names of complete files for capture_take_name */
};

/* Settings with every default. */
struct capture_settings capture_settings_default(void);

struct capture_status {
    bool running;
    bool failed;          /* `error` has the reason */
    enum capture_end end; /* reason of the end; valid unless running */
    int64_t started_ns, elapsed_ns;
    uint64_t records; /* number of records written to files */
    uint64_t lost[LOSS_STAGES];
    uint64_t raw_bytes;        /* size of the records written, uncompressed */
    uint64_t compressed_bytes; /* total size of the files */
    uint64_t files;            /* number of complete files */
    uint64_t after_stop;
    uint32_t queue_fill, queue_size; /* number of blocks */
    uint64_t damaged;                /* number of BT_DATA results of the source */
    uint64_t last_tick;
    uint64_t clock_hz;
    bool host_filters; /* the host removes what the filter excludes and the board lets pass */
    char filter[sizeof((struct capture_info *)NULL)->filter];             /* empty: none */
    char board_filter[sizeof((struct capture_info *)NULL)->board_filter]; /* with host_filters: the
                                                     part that the board applies; empty: none */
    bool selects;                       /* files hold the windows of a trigger, or snapshots */
    struct trigger_counts trigger;      /* with a trigger or a stop at a match */
    uint64_t snapshots;                 /* number of those whose file is complete */
    char snapshot_file[4096];           /* path of the last of these files */
    bool runs_command;                  /* for each complete file: */
    struct file_command_counts command; /* of all captures that share the command */
    struct source_totals source;
    uint64_t gaps;        /* times that the board was disconnected or silent */
    int64_t gap_ns;       /* total length of those that have ended */
    uint64_t chosen_gaps; /* gaps between an executed program's regions; not counted in `gaps` */
    uint64_t quantum;  /* instructions per turn of a program's thread; 0: no program is executed */
    uint64_t switches; /* number of switches between the program's threads */
    struct bt_error absent; /* why the board is missing; code 0: it is connected */
    char file[4096];        /* path of the file being written */
    struct bt_error error;  /* why it failed; else why the source's count is unknown at the end, or
                               the first corruption that the source reported; code 0: none */
};

/*
 * Starts a capture: locks the prefix (BT_BUSY if another capture holds it; BT_USAGE if files have
 * it and settings->append is false), allocates, starts the source, creates the first file, starts
 * the threads. Takes ownership of the source, also on failure. NULL and *error on failure.
 */
struct capture *capture_new(const struct capture_settings *settings, struct source *source,
                            struct bt_error *error);

/*
 * Ends the capture: stops the source and writes everything that it still delivers. A source that
 * neither delivers nor ends is abandoned after 5 s; its count is then unknown. Any thread; not from
 * a signal handler.
 */
void capture_stop(struct capture *capture);

/*
 * Ends the capture as capture_stop() does, but takes nothing more from the source: what the capture
 * holds in memory is written, and it is unknown how many requests the board had left. Returns at
 * once. Any thread; not from a signal handler.
 */
void capture_abandon(struct capture *capture);

/* Requests a new file, with a trigger a snapshot: the records that its buffer holds become a file.
 * Returns at once. Any thread. */
void capture_rotate(struct capture *capture);

/* Requests a snapshot as a file. Returns at once: its number, from 1, or 0 if the settings keep no
 * records for one. It is complete when status.snapshots has reached that number. Any thread. */
uint64_t capture_snapshot(struct capture *capture);

/* Fills *status. Any thread. */
void capture_get_status(struct capture *capture, struct capture_status *status);

/*
 * Waits up to timeout_ms (< 0: forever) for the end. Returns true if the capture has ended: all
 * files are complete and renamed.
 */
bool capture_wait(struct capture *capture, int timeout_ms);

/* The next name of a complete file, in order; false if none waits. */
bool capture_take_name(struct capture *capture, char *name, size_t size);

/*
 * The oldest message to the operator that was not yet taken (the board was unplugged, is back, the
 * disk is full), a sentence; false if there is none. The last CAPTURE_NOTES messages are kept.
 */
#define CAPTURE_NOTES      16u
#define CAPTURE_NOTE_BYTES 480u
bool capture_take_note(struct capture *capture, char *note, size_t size);

/* Stops, waits, frees. NULL is allowed. */
void capture_free(struct capture *capture);

/* The maximum number of bytes that a capture with these settings allocates, without the stacks of
 * its threads and names that are not taken (16 bytes each). */
size_t capture_memory(const struct capture_settings *settings);

#endif
