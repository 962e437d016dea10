#include "capture/line_queue.h"

#include "formats/base/clock.h"
#include "formats/base/file_io.h"
#include "formats/base/thread.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct queued_line {
    char *text;
    size_t size;
};

struct line_queue {
    int descriptor;
    const char *notice;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t changed;
    struct queued_line lines[LINE_QUEUE_LINES]; /* a ring */
    size_t first, count;                        /* the first one is being written */
    uint64_t dropped;
    uint64_t unreported; /* dropped after the last line, and not yet reported by a line */
    int refused;         /* errno of the first line that was */
    bool closed;
    bool orphan; /* no thread joins this one: it frees the queue */
};

static void destroy(struct line_queue *queue)
{
    for (; queue->count > 0; queue->count--) {
        free(queue->lines[queue->first].text);
        queue->first = (queue->first + 1) % LINE_QUEUE_LINES;
    }
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->mutex);
    free(queue);
}

/* The next thing to write; call with the mutex. False: there is nothing. */
static bool next(struct line_queue *queue, char *notice, size_t notice_size,
                 struct queued_line *line)
{
    if (queue->count > 0) {
        *line = queue->lines[queue->first];
        return true;
    }
    if (queue->unreported == 0)
        return false;
    int size = snprintf(notice, notice_size, "%s%" PRIu64 " %s dropped here: the reader stalled\n",
                        queue->notice, queue->unreported,
                        queue->unreported == 1 ? "line was" : "lines were");
    *line = (struct queued_line){NULL, (size_t)size < notice_size ? (size_t)size : notice_size - 1};
    return true;
}

/* The line at next() is written, or refused; call with the mutex. */
static void finish(struct line_queue *queue, const struct queued_line *line, uint64_t reported,
                   int refused)
{
    if (queue->refused == 0)
        queue->refused = refused;
    if (line->text) {
        free(line->text);
        queue->first = (queue->first + 1) % LINE_QUEUE_LINES;
        queue->count--;
        queue->dropped += refused != 0;
    } else {
        queue->unreported -= reported;
    }
    pthread_cond_broadcast(&queue->changed);
}

static void *run(void *argument)
{
    struct line_queue *queue = argument;
    struct queued_line line;
    char notice[120];
    thread_set_name("lines");
    pthread_mutex_lock(&queue->mutex);
    while (!queue->orphan) {
        if (next(queue, notice, sizeof notice, &line)) {
            uint64_t reported = queue->unreported;
            pthread_mutex_unlock(&queue->mutex);
            const char *text = line.text ? line.text : notice;
            int refused = file_write(queue->descriptor, text, line.size, NULL) < 0 ? errno : 0;
            pthread_mutex_lock(&queue->mutex);
            finish(queue, &line, reported, refused);
        } else if (queue->closed) {
            break;
        } else {
            pthread_cond_wait(&queue->changed, &queue->mutex);
        }
    }
    bool orphan = queue->orphan;
    pthread_mutex_unlock(&queue->mutex);
    if (orphan)
        destroy(queue);
    return NULL;
}

struct line_queue *line_queue_new(int descriptor, const char *notice, struct bt_error *error)
{
    struct line_queue *queue = calloc(1, sizeof *queue);
    if (!queue) {
        bt_fail(error, BT_MEMORY, "no memory for messages");
        return NULL;
    }
    queue->descriptor = descriptor;
    queue->notice = notice;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&queue->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&queue->mutex, NULL);
    if (thread_start_without_signals(&queue->thread, run, queue) == 0)
        return queue;
    bt_fail(error, BT_MEMORY, "cannot start a thread for messages");
    destroy(queue);
    return NULL;
}

bool line_queue_put(struct line_queue *queue, const char *text, size_t size)
{
    char *copy = malloc(size + 1);
    pthread_mutex_lock(&queue->mutex);
    /* after dropped lines, the line that reports them comes first */
    bool put = copy && queue->count < LINE_QUEUE_LINES && queue->unreported == 0;
    if (put) {
        memcpy(copy, text, size);
        queue->lines[(queue->first + queue->count++) % LINE_QUEUE_LINES] =
            (struct queued_line){copy, size};
    } else {
        queue->dropped++;
        queue->unreported++;
    }
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
    if (!put)
        free(copy);
    return put;
}

uint64_t line_queue_dropped(struct line_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    uint64_t dropped = queue->dropped;
    pthread_mutex_unlock(&queue->mutex);
    return dropped;
}

int line_queue_errno(struct line_queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    int refused = queue->refused;
    pthread_mutex_unlock(&queue->mutex);
    return refused;
}

bool line_queue_wait(struct line_queue *queue, int timeout_ms)
{
    int64_t until = clock_monotonic_ns() + (int64_t)timeout_ms * 1000000;
    struct timespec deadline = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
    int result = 0;
    pthread_mutex_lock(&queue->mutex);
    while ((queue->count > 0 || queue->unreported > 0) && result == 0)
        result = pthread_cond_timedwait(&queue->changed, &queue->mutex, &deadline);
    bool done = queue->count == 0 && queue->unreported == 0;
    pthread_mutex_unlock(&queue->mutex);
    return done;
}

void line_queue_free(struct line_queue *queue, int timeout_ms)
{
    if (!queue)
        return;
    bool done = line_queue_wait(queue, timeout_ms);
    pthread_t thread = queue->thread;
    pthread_mutex_lock(&queue->mutex);
    queue->closed = true;
    queue->orphan = !done;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
    if (done) {
        pthread_join(thread, NULL);
        destroy(queue);
    } else {
        pthread_detach(thread);
    }
}
