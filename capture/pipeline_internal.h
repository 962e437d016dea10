/*
 * Inside a capture: the state that its threads share. The stages, one file each, in the order of
 * the records: reader, worker, writer, finisher.
 */
#ifndef CAPTURE_PIPELINE_INTERNAL_H
#define CAPTURE_PIPELINE_INTERNAL_H

#include "capture/capture.h"
#include "capture/file_set.h"
#include "capture/loss_watch.h"
#include "capture/queue.h"

#include <pthread.h>

struct finisher;
struct writer;

/* One compression thread. */
struct worker {
    struct queue *queue;
    struct record_encoder *encoder;
    bool hurry; /* the source does not wait */
    pthread_t thread;
};

/* How reading ended, from the reader to the writer, which closes the last file with it. */
struct reading_end {
    enum capture_end end;
    bool source_ended;      /* the source ended without a stop; its totals are final */
    uint64_t after_stop;    /* requests read after the stop */
    struct bt_error remark; /* with CAPTURE_END_DEVICE the reason; else code 0 or a message */
};

struct capture {
    /* constant once the threads run */
    struct capture_settings settings; /* completed */
    struct capture_info info;         /* common to all its files */
    int64_t started_monotonic_ns;
    struct source *source; /* the reader's alone */
    bool triggered;        /* it is a trigger source */
    struct batch spare;    /* the reader's alone: buffer for records that are dropped */
    struct queue *queue;
    struct file_set *files;
    struct writer *writer;
    struct finisher *finisher;
    struct worker *workers; /* settings.workers */
    unsigned workers_running;
    pthread_t reader_thread, writer_thread;
    bool reader_running, writer_running;

    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t has_ended;
    bool stop_wanted;
    bool abandoned; /* with stop_wanted: the source is not read any more */
    bool rotate_wanted;
    uint64_t snapshots_wanted; /* number of requests */
    bool halted;               /* the writer or the finisher takes no more */
    bool ended;
    int64_t ended_monotonic_ns;
    int64_t file_began_ns; /* monotonic */
    struct reading_end reading;
    struct capture_status status;
    char notes[CAPTURE_NOTES][CAPTURE_NOTE_BYTES]; /* a ring */
    uint64_t notes_taken, notes_put;
    struct loss_watch loss_watch;
};

void *reader_run(void *capture);
void *worker_run(void *worker);
void *writer_run(void *writer);

/* Writer: opens the first file. NULL and *error on failure. */
struct writer *writer_new(struct capture *capture, struct bt_error *error);
/* Closes open files; discard removes a file without records. NULL is allowed. */
void writer_free(struct writer *writer, bool discard);

/* Adds a message to the operator, for capture_take_note. */
void pipeline_note(struct capture *capture, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Counts a loss, once; messages report when losses begin and when they end. */
void pipeline_lost(struct capture *capture, const struct loss *lost);
/* Fails the capture from within: keeps the first error and halts the reader. */
void pipeline_fail(struct capture *capture, const struct bt_error *error);
/* Stops the reader; everything it reads afterwards is dropped. */
void pipeline_halt(struct capture *capture);
/* The last file is finished: capture_wait returns. */
void pipeline_ended(struct capture *capture);

#endif
