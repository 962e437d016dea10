#include "capture/finisher.h"

#include "formats/base/thread.h"

#include <stdlib.h>
#include <unistd.h>

#define WAITING_MAX 8u

struct waiting_file {
    struct file_name name;
    int descriptor;
};

struct finisher {
    struct capture *capture;
    pthread_t thread;
    bool running;
    struct file_name *ring; /* settings.keep complete files; the thread's alone */
    uint64_t complete;

    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    struct waiting_file waiting[WAITING_MAX];
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

/* A complete file takes its place in the ring; the one that had it is removed. */
static int turn_ring(struct finisher *finisher, const struct file_name *name,
                     struct bt_error *error)
{
    uint32_t keep = finisher->capture->settings.keep;
    int result = 0;
    if (keep > 0) {
        struct file_name *place = &finisher->ring[finisher->complete % keep];
        if (finisher->complete >= keep)
            result = file_set_remove(finisher->capture->files, place, error);
        *place = *name;
    }
    finisher->complete++;
    return result;
}

static void finish(struct finisher *finisher, const struct waiting_file *file)
{
    struct capture *capture = finisher->capture;
    struct bt_error error = {0};
    int result = file_set_complete(capture->files, &file->name, file->descriptor, &error);
    close(file->descriptor);
    if (result < 0) {
        pipeline_fail(capture, &error);
        return;
    }
    if (turn_ring(finisher, &file->name, &error) < 0)
        pipeline_fail(capture, &error);
    pthread_mutex_lock(&capture->mutex);
    capture->status.files++;
    pthread_mutex_unlock(&capture->mutex);
    if (!capture->settings.names)
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
        struct waiting_file file = finisher->waiting[finisher->first];
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

struct finisher *finisher_new(struct capture *capture, struct bt_error *error)
{
    struct finisher *finisher = calloc(1, sizeof *finisher);
    size_t keep = capture->settings.keep;
    struct file_name *ring = keep ? calloc(keep, sizeof *ring) : NULL;
    if (!finisher || (keep && !ring)) {
        bt_fail(error, BT_MEMORY, "no memory for a ring of %zu files", keep);
        free(ring);
        free(finisher);
        return NULL;
    }
    finisher->capture = capture;
    finisher->ring = ring;
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

void finisher_put(struct finisher *finisher, const struct file_name *name, int descriptor)
{
    pthread_mutex_lock(&finisher->mutex);
    while (finisher->count == WAITING_MAX)
        pthread_cond_wait(&finisher->changed, &finisher->mutex);
    size_t place = (finisher->first + finisher->count) % WAITING_MAX;
    finisher->waiting[place] = (struct waiting_file){.name = *name, .descriptor = descriptor};
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
