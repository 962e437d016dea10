#include "capture/exec/trace/trace_worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct trace_worker {
    struct trace_expander *expander;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    const uint32_t *entries;
    size_t count; /* 0: no work */
    int result;
    bool ends;
};

static void *work(void *context)
{
    struct trace_worker *worker = context;
    pthread_mutex_lock(&worker->mutex);
    for (;;) {
        while (worker->count == 0 && !worker->ends)
            pthread_cond_wait(&worker->changed, &worker->mutex);
        if (worker->count == 0)
            break;
        pthread_mutex_unlock(&worker->mutex);
        int result = trace_expand(worker->expander, worker->entries, worker->count);
        pthread_mutex_lock(&worker->mutex);
        worker->result = result;
        worker->count = 0;
        pthread_cond_broadcast(&worker->changed);
    }
    pthread_mutex_unlock(&worker->mutex);
    return NULL;
}

struct trace_worker *trace_worker_new(struct trace_expander *expander, struct bt_error *error)
{
    sigset_t all, before;
    struct trace_worker *worker = calloc(1, sizeof *worker);
    if (!worker) {
        bt_fail(error, BT_MEMORY, "no memory for a thread of our own");
        return NULL;
    }
    worker->expander = expander;
    pthread_mutex_init(&worker->mutex, NULL);
    pthread_cond_init(&worker->changed, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&worker->thread, NULL, work, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result == 0)
        return worker;
    bt_fail(error, BT_MEMORY, "no thread of our own can be made");
    pthread_cond_destroy(&worker->changed);
    pthread_mutex_destroy(&worker->mutex);
    free(worker);
    return NULL;
}

void trace_worker_free(struct trace_worker *worker)
{
    if (!worker)
        return;
    pthread_mutex_lock(&worker->mutex);
    worker->ends = true;
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->mutex);
    pthread_join(worker->thread, NULL);
    pthread_cond_destroy(&worker->changed);
    pthread_mutex_destroy(&worker->mutex);
    free(worker);
}

/* With the mutex. */
static int wait(struct trace_worker *worker)
{
    while (worker->count > 0)
        pthread_cond_wait(&worker->changed, &worker->mutex);
    return worker->result;
}

int trace_worker_wait(struct trace_worker *worker)
{
    pthread_mutex_lock(&worker->mutex);
    int result = wait(worker);
    pthread_mutex_unlock(&worker->mutex);
    return result;
}

int trace_worker_give(struct trace_worker *worker, const uint32_t *entries, size_t count,
                      uint64_t fs_base)
{
    pthread_mutex_lock(&worker->mutex);
    int result = wait(worker);
    if (result == 0 && count > 0) {
        worker->expander->fs_base = fs_base;
        worker->entries = entries;
        worker->count = count;
        pthread_cond_broadcast(&worker->changed);
    }
    pthread_mutex_unlock(&worker->mutex);
    return result;
}
