/* The status of a capture, for its callers and its threads. */
#include "capture/pipeline_internal.h"
#include "formats/base/clock.h"

#include <stdarg.h>
#include <stdio.h>

void capture_get_status(struct capture *capture, struct capture_status *status)
{
    size_t fill = queue_fill(capture->queue);
    pthread_mutex_lock(&capture->mutex);
    *status = capture->status;
    int64_t until = capture->ended ? capture->ended_monotonic_ns : clock_monotonic_ns();
    pthread_mutex_unlock(&capture->mutex);
    status->runs_command = capture->settings.on_file != NULL;
    if (status->runs_command)
        status->command = file_command_counts(capture->settings.on_file);
    status->elapsed_ns = until - capture->started_monotonic_ns;
    status->queue_fill = (uint32_t)fill;
    status->queue_size = (uint32_t)queue_size(capture->queue);
}

void pipeline_fail(struct capture *capture, const struct bt_error *error)
{
    pthread_mutex_lock(&capture->mutex);
    if (!capture->status.failed)
        capture->status.error = *error;
    capture->status.failed = true;
    capture->halted = true;
    pthread_mutex_unlock(&capture->mutex);
}

/* Room for the next note; call with the mutex. */
static char *next_note(struct capture *capture)
{
    return capture->notes[capture->notes_put++ % CAPTURE_NOTES];
}

void pipeline_note(struct capture *capture, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&capture->mutex);
    vsnprintf(next_note(capture), CAPTURE_NOTE_BYTES, format, arguments);
    pthread_mutex_unlock(&capture->mutex);
    va_end(arguments);
}

void pipeline_lost(struct capture *capture, const struct loss *lost)
{
    char text[LOSS_WATCH_BYTES];
    pthread_mutex_lock(&capture->mutex);
    if (loss_watch_add(&capture->loss_watch, lost, clock_monotonic_ns(), text))
        snprintf(next_note(capture), CAPTURE_NOTE_BYTES, "%s", text);
    pthread_mutex_unlock(&capture->mutex);
}

/* Call with the mutex. */
static void look_at_losses(struct capture *capture)
{
    char text[LOSS_WATCH_BYTES];
    if (loss_watch_over(&capture->loss_watch, clock_monotonic_ns(), capture->ended, text))
        snprintf(next_note(capture), CAPTURE_NOTE_BYTES, "%s", text);
}

bool capture_take_note(struct capture *capture, char *note, size_t size)
{
    pthread_mutex_lock(&capture->mutex);
    look_at_losses(capture);
    if (capture->notes_put - capture->notes_taken > CAPTURE_NOTES)
        capture->notes_taken = capture->notes_put - CAPTURE_NOTES;
    bool found = capture->notes_taken < capture->notes_put;
    if (found)
        snprintf(note, size, "%s", capture->notes[capture->notes_taken++ % CAPTURE_NOTES]);
    pthread_mutex_unlock(&capture->mutex);
    return found;
}

void pipeline_halt(struct capture *capture)
{
    pthread_mutex_lock(&capture->mutex);
    capture->halted = true;
    pthread_mutex_unlock(&capture->mutex);
}

void pipeline_ended(struct capture *capture)
{
    pthread_mutex_lock(&capture->mutex);
    struct capture_status *status = &capture->status;
    if (status->failed && status->end != CAPTURE_END_DEVICE)
        status->end = CAPTURE_END_DISK;
    status->running = false;
    status->file[0] = '\0';
    capture->ended = true;
    capture->ended_monotonic_ns = clock_monotonic_ns();
    pthread_cond_broadcast(&capture->has_ended);
    pthread_mutex_unlock(&capture->mutex);
}
