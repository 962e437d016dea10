#include "capture/finisher.h"

#include "capture/file_list.h"
#include "formats/base/thread.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAITING_MAX 8u

struct finisher {
    struct capture *capture;
    pthread_t thread;
    bool running;
    /* with settings.keep: the prefix's complete files, oldest first, also those of earlier
     * captures; the thread's alone */
    struct file_set_file *ring;
    size_t ring_first, ring_count, ring_capacity;

    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t changed;
    struct finished_file waiting[WAITING_MAX];
    size_t first, count;
    bool closed;
    struct file_name *names; /* of complete files, for finisher_take_name */
    size_t names_first, names_count, names_capacity;
};

/* Appends to the names that wait. What was taken is dropped first, so that the list is as long as
 * the taker is late, not as the capture. */
static bool remember_name(struct finisher *finisher, const struct file_name *name)
{
    if (finisher->names_first > 0 && finisher->names_count == finisher->names_capacity) {
        finisher->names_count -= finisher->names_first;
        for (size_t i = 0; i < finisher->names_count; i++)
            finisher->names[i] = finisher->names[i + finisher->names_first];
        finisher->names_first = 0;
    }
    if (finisher->names_count == finisher->names_capacity) {
        size_t capacity = finisher->names_capacity ? 2 * finisher->names_capacity : 64;
        struct file_name *names = realloc(finisher->names, capacity * sizeof *names);
        if (!names)
            return false;
        finisher->names = names;
        finisher->names_capacity = capacity;
    }
    finisher->names[finisher->names_count++] = *name;
    return true;
}

/* A complete file takes its place in the ring; the oldest ones are removed. */
static int turn_ring(struct finisher *finisher, const struct file_set_file *file,
                     struct bt_error *error)
{
    uint32_t keep = finisher->capture->settings.keep;
    int result = 0;
    if (keep == 0)
        return 0;
    finisher->ring[(finisher->ring_first + finisher->ring_count++) % finisher->ring_capacity] =
        *file;
    while (finisher->ring_count > keep) {
        if (file_set_remove(finisher->capture->files, &finisher->ring[finisher->ring_first],
                            error) < 0)
            result = BT_IO;
        finisher->ring_first = (finisher->ring_first + 1) % finisher->ring_capacity;
        finisher->ring_count--;
    }
    return result;
}

/* Counts a complete file in the status. */
static void publish(struct capture *capture, const struct finished_file *file)
{
    struct capture_status *status = &capture->status;
    pthread_mutex_lock(&capture->mutex);
    status->files++;
    if (file->snapshots > status->snapshots) {
        status->snapshots = file->snapshots;
        file_set_path(capture->files, &file->name, false, status->snapshot_file,
                      sizeof status->snapshot_file);
    }
    pthread_mutex_unlock(&capture->mutex);
}

static void run_command(struct capture *capture, const struct finished_file *file)
{
    char path[FILE_SET_PATH_BYTES];
    file_set_path(capture->files, &file->name, false, path, sizeof path);
    const struct file_command_file complete = {.path = path,
                                               .prefix_bytes = strlen(capture->settings.prefix),
                                               .records = file->records,
                                               .lost = file->lost,
                                               .reason = file->reason};
    file_command_put(capture->settings.on_file, &complete);
}

/* Names the file, makes room in the ring, and passes the file to the command. False: it has no
 * name. */
static bool name_file(struct finisher *finisher, const struct finished_file *file)
{
    struct capture *capture = finisher->capture;
    struct bt_error error = {0};
    struct file_set_file complete;
    file_set_identify(&complete, &file->name, file->descriptor);
    int result = file_set_complete(capture->files, &file->name, file->descriptor, &error);
    close(file->descriptor);
    if (result < 0) {
        pipeline_fail(capture, &error);
        return false;
    }
    if (turn_ring(finisher, &complete, &error) < 0)
        pipeline_fail(capture, &error);
    publish(capture, file);
    if (capture->settings.on_file)
        run_command(capture, file);
    return true;
}

static void finish(struct finisher *finisher, const struct finished_file *file)
{
    struct capture *capture = finisher->capture;
    pthread_mutex_t *lock = capture->settings.files_lock;
    struct bt_error error = {0};
    if (lock)
        pthread_mutex_lock(lock);
    const bool named = name_file(finisher, file);
    if (lock)
        pthread_mutex_unlock(lock);
    if (!named || !capture->settings.names)
        return;
    pthread_mutex_lock(&finisher->mutex);
    bool remembered = remember_name(finisher, &file->name);
    pthread_mutex_unlock(&finisher->mutex);
    if (!remembered) {
        bt_fail(&error, BT_MEMORY, "no memory for the names of complete files");
        pipeline_fail(capture, &error);
    }
}

static void *finisher_run(void *argument)
{
    struct finisher *finisher = argument;
    thread_set_name("finisher");
    for (;;) {
        pthread_mutex_lock(&finisher->mutex);
        while (finisher->count == 0 && !finisher->closed)
            pthread_cond_wait(&finisher->changed, &finisher->mutex);
        bool found = finisher->count > 0;
        struct finished_file file = finisher->waiting[finisher->first];
        pthread_mutex_unlock(&finisher->mutex);
        if (!found)
            return NULL;
        finish(finisher, &file);
        pthread_mutex_lock(&finisher->mutex);
        finisher->first = (finisher->first + 1) % WAITING_MAX;
        finisher->count--;
        pthread_cond_broadcast(&finisher->changed);
        pthread_mutex_unlock(&finisher->mutex);
    }
}

/* The ring begins with what earlier captures have left, and has room for one more than is kept. */
static int make_ring(struct finisher *finisher, struct bt_error *error)
{
    struct capture *capture = finisher->capture;
    size_t keep = capture->settings.keep;
    if (keep == 0)
        return 0;
    struct file_set_file *ring;
    int result = file_list_read(capture->files, &ring, &finisher->ring_count, error);
    if (result < 0)
        return result;
    finisher->ring_capacity = (finisher->ring_count > keep ? finisher->ring_count : keep) + 1;
    finisher->ring = realloc(ring, finisher->ring_capacity * sizeof *ring);
    if (finisher->ring)
        return 0;
    free(ring);
    return bt_fail(error, BT_MEMORY, "no memory for a ring of %zu files", keep);
}

struct finisher *finisher_new(struct capture *capture, struct bt_error *error)
{
    struct finisher *finisher = calloc(1, sizeof *finisher);
    if (!finisher) {
        bt_fail(error, BT_MEMORY, "no memory for a capture's finisher");
        return NULL;
    }
    finisher->capture = capture;
    if (make_ring(finisher, error) < 0) {
        free(finisher);
        return NULL;
    }
    pthread_mutex_init(&finisher->mutex, NULL);
    pthread_cond_init(&finisher->changed, NULL);
    int result = pthread_create(&finisher->thread, NULL, finisher_run, finisher);
    if (result != 0) {
        bt_fail(error, BT_MEMORY, "cannot start a thread for finished files");
        finisher_free(finisher);
        return NULL;
    }
    finisher->running = true;
    return finisher;
}

void finisher_put(struct finisher *finisher, const struct finished_file *file)
{
    pthread_mutex_lock(&finisher->mutex);
    while (finisher->count == WAITING_MAX)
        pthread_cond_wait(&finisher->changed, &finisher->mutex);
    size_t place = (finisher->first + finisher->count) % WAITING_MAX;
    finisher->waiting[place] = *file;
    finisher->count++;
    pthread_cond_broadcast(&finisher->changed);
    pthread_mutex_unlock(&finisher->mutex);
}

void finisher_join(struct finisher *finisher)
{
    if (!finisher || !finisher->running)
        return;
    pthread_mutex_lock(&finisher->mutex);
    finisher->closed = true;
    pthread_cond_broadcast(&finisher->changed);
    pthread_mutex_unlock(&finisher->mutex);
    pthread_join(finisher->thread, NULL);
    finisher->running = false;
}

void finisher_free(struct finisher *finisher)
{
    if (!finisher)
        return;
    finisher_join(finisher);
    pthread_cond_destroy(&finisher->changed);
    pthread_mutex_destroy(&finisher->mutex);
    free(finisher->names);
    free(finisher->ring);
    free(finisher);
}

bool finisher_take_name(struct finisher *finisher, struct file_name *name)
{
    pthread_mutex_lock(&finisher->mutex);
    bool found = finisher->names_first < finisher->names_count;
    if (found)
        *name = finisher->names[finisher->names_first++];
    pthread_mutex_unlock(&finisher->mutex);
    return found;
}
