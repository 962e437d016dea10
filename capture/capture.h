/*
 * The capture: from a source to rolling files.
 *
 *   source thread -> bounded queue of preallocated batches -> compression workers -> ordered writer
 *                 -> files under temporary names -> finisher: sync, rename, ring of N
 */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include "formats/capture/capture_file.h"
#include "formats/record/source.h"

struct capture;

/* What to do when the host's queue is full. */
enum capture_when_full {
    CAPTURE_WAIT, /* stop reading: the board's own queue takes over, and counts */
    CAPTURE_DROP  /* read on, drop and count at stage "queue": for sources that must not block */
};

/* All limits: 0 is none. Times in ns. */
struct capture_settings {
    char prefix[4096];     /* files are PREFIX_00001_20261120T224500Z.byu.gz; missing folders are
                              created */
    uint64_t rotate_bytes; /* maximum size of a file, unless one block is larger */
    int64_t rotate_ns;     /* maximum age of a file */
    int64_t
        rotate_every_ns; /* aligned to the wall clock: a new file at each multiple since 1970 UTC */
    bool append;         /* the prefix may have files of other captures already */
    uint32_t keep;       /* complete files kept per prefix; older ones are removed, including those
                            of earlier captures */
    int64_t stop_ns;
    uint64_t stop_records;  /* exactly this many, if the source has them */
    uint64_t stop_bytes;    /* in all files together */
    uint64_t stop_files;    /* needs one of the rotate_ limits */
    unsigned workers;       /* compression threads; 0: one per processor */
    size_t queue_bytes;     /* records waiting at most; 0: 64 MiB */
    uint32_t block_records; /* records per member; 0: CAPTURE_BLOCK_RECORDS, less where rotate_bytes
                               is small */
    int64_t flush_ns;       /* records wait no longer than this for their block to fill; 0: 1 s */
    enum deflate_engine engine;
    int level; /* -1: the engine's default */
    enum capture_when_full when_full;
    bool wait_for_room; /* a full disk: lose and count at stage "disk" until there is room again;
                         otherwise it ends the capture */
    bool names;         /* keep names of complete files for capture_take_name */
};

/* Settings with every default. */
struct capture_settings capture_settings_default(void);

struct capture_status {
    bool running;
    bool failed;          /* error holds why */
    enum capture_end end; /* once not running */
    int64_t started_ns, elapsed_ns;
    uint64_t records; /* in files (written, not only read) */
    uint64_t lost[LOSS_STAGES];
    uint64_t raw_bytes;        /* of the records written */
    uint64_t compressed_bytes; /* of all files */
    uint64_t files;            /* complete */
    uint64_t after_stop;
    uint32_t queue_fill, queue_size; /* blocks */
    uint64_t damaged;                /* BT_DATA answers of the source */
    uint64_t last_tick;
    uint64_t clock_hz;
    struct source_totals source;
    uint64_t gaps;  /* times that the board was disconnected or silent */
    int64_t gap_ns; /* total length of those that have ended */
    uint64_t
        chosen_gaps;   /* apart from those: places where instructions of a program were left out */
    uint64_t quantum;  /* of a program: instructions of a thread's turn; 0: no program */
    uint64_t switches; /* of a program: how often the turn went to another thread */
    struct bt_error absent; /* why the board is missing; code 0: it is connected */
    char file[4096];        /* the one being written */
    struct bt_error error;  /* why it failed; else why the source's count is unknown at the end, or
                               the  first corruption that the source reported; code 0: none */
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

/* Requests a new file; returns at once. Any thread. */
void capture_rotate(struct capture *capture);

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

/* The maximum bytes that a capture with these settings allocates, without the stacks of its threads
 * and names that are not taken (16 bytes each). */
size_t capture_memory(const struct capture_settings *settings);

#endif
