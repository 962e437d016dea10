/* The life of a capture: its parts made, its threads started, ended and joined. */
#include "capture/capture.h"

#include "capture/file_list.h"
#include "capture/finisher.h"
#include "capture/rules.h"
#include "capture/stream_output.h"
#include "formats/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Adds the trigger to the filter in the headers, which is not parsed. */
static void describe_trigger(struct capture *capture)
{
    const char *trigger = capture->settings.trigger.trigger;
    char *filter = capture->info.filter;
    size_t size = strlen(filter);
    if (trigger_selects(&capture->settings.trigger))
        snprintf(filter + size, sizeof capture->info.filter - size, "%s%s%s", size ? ", " : "",
                 trigger[0] ? "trigger " : "snapshots", trigger);
}

static void fill_info(struct capture *capture, const uint8_t id[CAPTURE_ID_BYTES])
{
    capture->info = *source_info(capture->source);
    capture->started_monotonic_ns = clock_monotonic_ns();
    capture->info.started_ns = clock_realtime_ns();
    capture->info.file_number = 0; /* the writer counts from here */
    capture->info.keep = capture->settings.keep;
    capture->info.version = (uint8_t)record_engine_version(capture->settings.engine);
    memcpy(capture->info.id, id, sizeof capture->info.id);
    capture->status.running = true;
    capture->status.started_ns = capture->info.started_ns;
    capture->status.clock_hz = capture->info.clock_hz;
    capture->status.host_filters = capture->info.host_filters;
    memcpy(capture->status.filter, capture->info.filter, sizeof capture->info.filter);
    memcpy(capture->status.board_filter, capture->info.board_filter,
           sizeof capture->info.board_filter);
    describe_trigger(capture);
    capture->status.selects = trigger_selects(&capture->settings.trigger);
}

static int make_queue(struct capture *capture, struct bt_error *error)
{
    const struct capture_settings *settings = &capture->settings;
    struct queue_sizes sizes = {.blocks = rules_blocks(settings),
                                .block_records = settings->block_records,
                                .members = rules_members(settings),
                                .member_bytes = capture_data_member_bound(settings->block_records),
                                .segments = capture->source->feeds ? rules_segments(settings) : 0};
    capture->queue = queue_new(&sizes, error);
    if (!capture->queue)
        return BT_MEMORY;
    capture->spare.records = malloc(sizes.block_records * sizeof(struct record));
    capture->spare.capacity = sizes.block_records;
    if (!capture->spare.records)
        return bt_fail(error, BT_MEMORY, "no memory for a block of %zu records",
                       sizes.block_records);
    if (!capture->source->backpressure)
        queue_touch(capture->queue);
    return 0;
}

static int make_workers(struct capture *capture, struct bt_error *error)
{
    const struct capture_settings *settings = &capture->settings;
    capture->workers = calloc(settings->workers, sizeof *capture->workers);
    if (!capture->workers)
        return bt_fail(error, BT_MEMORY, "no memory for %u workers", settings->workers);
    for (unsigned i = 0; i < settings->workers; i++) {
        struct worker *worker = &capture->workers[i];
        worker->queue = capture->queue;
        worker->hurry = !capture->source->backpressure;
        worker->encoder = record_encoder_new(settings->engine, settings->level, error);
        if (!worker->encoder)
            return error ? error->code : BT_MEMORY;
    }
    return 0;
}

/* Threads start from the end of the pipeline, so that none has to be taken back: the reader, which
 * makes the others end, is last. */
static int start_threads(struct capture *capture, struct bt_error *error)
{
    int result = 0;
    for (unsigned i = 0; result == 0 && i < capture->settings.workers; i++) {
        struct worker *worker = &capture->workers[i];
        result = pthread_create(&worker->thread, NULL, worker_run, worker);
        capture->workers_running += result == 0;
    }
    if (result == 0) {
        result = pthread_create(&capture->writer_thread, NULL, writer_run, capture->writer);
        capture->writer_running = result == 0;
    }
    if (result == 0) {
        result = pthread_create(&capture->reader_thread, NULL, reader_run, capture);
        capture->reader_running = result == 0;
    }
    if (result == 0)
        return 0;
    errno = result;
    return bt_fail_errno(error, "cannot start the threads of a capture");
}

/* Does everything that takes time or can fail, before the source begins to send. */
static int prepare(struct capture *capture, uint8_t id[CAPTURE_ID_BYTES], struct bt_error *error)
{
    int result = make_queue(capture, error);
    if (result == 0)
        result = make_workers(capture, error);
    if (result < 0)
        return result;
    if (getrandom(id, CAPTURE_ID_BYTES, 0) != CAPTURE_ID_BYTES)
        return bt_fail_errno(error, "cannot make an identity for the capture");
    capture->files = file_set_new(capture->settings.prefix, error);
    if (!capture->files)
        return BT_IO;
    if (!capture->settings.append && !stream_output_is_named(capture->settings.prefix) &&
        file_list_check_unused(capture->settings.prefix, false, error) < 0)
        return BT_USAGE;
    capture->finisher = finisher_new(capture, error);
    return capture->finisher ? 0 : BT_MEMORY;
}

static int set_up(struct capture *capture, struct bt_error *error)
{
    uint8_t id[CAPTURE_ID_BYTES];
    int result = prepare(capture, id, error);
    if (result == 0)
        result = source_start(capture->source, error);
    if (result < 0)
        return result;
    fill_info(capture, id);
    capture->writer = writer_new(capture, error);
    return capture->writer ? start_threads(capture, error) : BT_IO;
}

static void join_threads(struct capture *capture)
{
    if (capture->reader_running)
        pthread_join(capture->reader_thread, NULL);
    else if (capture->queue)
        queue_close(capture->queue);
    for (unsigned i = 0; i < capture->workers_running; i++)
        pthread_join(capture->workers[i].thread, NULL);
    if (capture->writer_running)
        pthread_join(capture->writer_thread, NULL);
}

static void release(struct capture *capture)
{
    bool never_ran = !capture->writer_running;
    join_threads(capture);
    finisher_free(capture->finisher);
    writer_free(capture->writer, never_ran);
    for (unsigned i = 0; capture->workers && i < capture->settings.workers; i++)
        record_encoder_free(capture->workers[i].encoder);
    free(capture->workers);
    free(capture->spare.records);
    queue_free(capture->queue);
    file_set_free(capture->files);
    source_close(capture->source);
    pthread_cond_destroy(&capture->has_ended);
    pthread_mutex_destroy(&capture->mutex);
    free(capture);
}

struct capture *capture_new(const struct capture_settings *settings, struct source *source,
                            struct bt_error *error)
{
    struct capture *capture = NULL;
    struct bt_error own = {0}; /* parts look into it */
    error = error ? error : &own;
    if (rules_check(settings, error) < 0)
        goto failed;
    capture = calloc(1, sizeof *capture);
    if (!capture) {
        bt_fail(error, BT_MEMORY, "no memory for a capture");
        goto failed;
    }
    capture->settings = *settings;
    rules_complete(&capture->settings);
    pthread_mutex_init(&capture->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&capture->has_ended, &attributes);
    pthread_condattr_destroy(&attributes);
    if (trigger_is_used(&settings->trigger)) {
        source = trigger_source_new(source, &settings->trigger, error);
        capture->triggered = true;
    }
    capture->source = source;
    if (source && set_up(capture, error) == 0)
        return capture;
    source = NULL;
failed:
    source_close(source);
    if (capture)
        release(capture);
    return NULL;
}

void capture_stop(struct capture *capture)
{
    pthread_mutex_lock(&capture->mutex);
    capture->stop_wanted = true;
    pthread_mutex_unlock(&capture->mutex);
}

void capture_abandon(struct capture *capture)
{
    pthread_mutex_lock(&capture->mutex);
    capture->stop_wanted = true;
    capture->abandoned = true;
    pthread_mutex_unlock(&capture->mutex);
}

void capture_rotate(struct capture *capture)
{
    pthread_mutex_lock(&capture->mutex);
    if (trigger_selects(&capture->settings.trigger))
        capture->snapshots_wanted++;
    else
        capture->rotate_wanted = true;
    pthread_mutex_unlock(&capture->mutex);
}

uint64_t capture_snapshot(struct capture *capture)
{
    uint64_t number = 0;
    pthread_mutex_lock(&capture->mutex);
    if (trigger_keeps_records(&capture->settings.trigger))
        number = ++capture->snapshots_wanted;
    pthread_mutex_unlock(&capture->mutex);
    return number;
}

bool capture_wait(struct capture *capture, int timeout_ms)
{
    struct timespec deadline;
    int64_t until = clock_monotonic_ns() + (int64_t)timeout_ms * 1000000;
    deadline.tv_sec = (time_t)(until / 1000000000);
    deadline.tv_nsec = (long)(until % 1000000000);
    int result = 0;
    pthread_mutex_lock(&capture->mutex);
    while (!capture->ended && result == 0)
        result = timeout_ms < 0
                     ? pthread_cond_wait(&capture->has_ended, &capture->mutex)
                     : pthread_cond_timedwait(&capture->has_ended, &capture->mutex, &deadline);
    bool ended = capture->ended;
    pthread_mutex_unlock(&capture->mutex);
    return ended;
}

bool capture_take_name(struct capture *capture, char *name, size_t size)
{
    struct file_name next;
    if (!finisher_take_name(capture->finisher, &next))
        return false;
    file_set_path(capture->files, &next, false, name, size);
    return true;
}

void capture_free(struct capture *capture)
{
    if (!capture)
        return;
    capture_stop(capture);
    release(capture);
}
