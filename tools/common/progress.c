#include "tools/common/progress.h"

#include "formats/base/clock.h"
#include "formats/base/printable.h"
#include "formats/base/thread.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS   1000000000
#define INTERVAL_NS 200000000
#define STEP_BYTES  80u

/* A thread that shows how long a step takes. */
struct progress_clock {
    char step[STEP_BYTES];
    int64_t job_ns;     /* when the job began */
    int64_t started_ns; /* when the step began */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool ended; /* the step, under the mutex */
    bool shown;
};

void progress_begin(struct progress *progress, bool quiet_output)
{
    *progress = (struct progress){0};
    progress->wanted = isatty(STDERR_FILENO) && (quiet_output || !isatty(STDOUT_FILENO));
    if (progress->wanted)
        progress->started_ns = clock_monotonic_ns();
}

/* --- steps --- */

/* Waits until the time, or the end of the step. Whether the step has not ended. */
static bool wait_until(struct progress_clock *clock, int64_t until_ns)
{
    const struct timespec until = {.tv_sec = until_ns / SECOND_NS, .tv_nsec = until_ns % SECOND_NS};
    int result = 0;
    while (!clock->ended && result == 0)
        result = pthread_cond_timedwait(&clock->changed, &clock->mutex, &until);
    return !clock->ended;
}

static void *show_seconds(void *argument)
{
    struct progress_clock *clock = argument;
    int64_t next_ns = clock->job_ns + SECOND_NS;
    thread_set_name("progress");
    pthread_mutex_lock(&clock->mutex);
    while (wait_until(clock, next_ns)) {
        const int64_t now = clock_monotonic_ns();
        fprintf(stderr, "\r\033[K%s: %" PRId64 " s", PRINTABLE(clock->step),
                (now - clock->started_ns) / SECOND_NS);
        clock->shown = true;
        next_ns = now + SECOND_NS;
    }
    pthread_mutex_unlock(&clock->mutex);
    return NULL;
}

/* Makes a clock that has no thread; NULL without memory. */
static struct progress_clock *new_clock(const char *step, int64_t job_ns)
{
    pthread_condattr_t attributes;
    struct progress_clock *clock = calloc(1, sizeof *clock);
    if (!clock)
        return NULL;
    snprintf(clock->step, sizeof clock->step, "%s", step);
    clock->job_ns = job_ns;
    clock->started_ns = clock_monotonic_ns();
    pthread_mutex_init(&clock->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&clock->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return clock;
}

static void free_clock(struct progress_clock *clock)
{
    pthread_cond_destroy(&clock->changed);
    pthread_mutex_destroy(&clock->mutex);
    free(clock);
}

static void end_step(struct progress *progress)
{
    struct progress_clock *clock = progress->clock;
    if (!clock)
        return;
    pthread_mutex_lock(&clock->mutex);
    clock->ended = true;
    pthread_cond_signal(&clock->changed);
    pthread_mutex_unlock(&clock->mutex);
    pthread_join(clock->thread, NULL);
    progress->shown |= clock->shown;
    progress->clock = NULL;
    free_clock(clock);
}

void progress_step(struct progress *progress, const char *step)
{
    end_step(progress);
    if (!progress->wanted)
        return;
    struct progress_clock *clock = new_clock(step, progress->started_ns);
    if (clock && thread_start_without_signals(&clock->thread, show_seconds, clock) != 0) {
        free_clock(clock); /* the job is more important than its display */
        clock = NULL;
    }
    progress->clock = clock;
}

/* --- bytes --- */

void progress_show(struct progress *progress, const char *path, uint64_t done, uint64_t total)
{
    end_step(progress);
    if (!progress->wanted)
        return;
    int64_t now = clock_monotonic_ns();
    if (now - progress->started_ns < SECOND_NS || now - progress->shown_ns < INTERVAL_NS)
        return;
    progress->shown_ns = now;
    progress->shown = true;
    if (total > 0)
        fprintf(stderr, "\r\033[K%.60s: %3.0f %%", PRINTABLE(path),
                100.0 * (double)done / (double)total);
    else
        fprintf(stderr, "\r\033[K%.60s: %" PRIu64 " MiB", PRINTABLE(path), done >> 20);
}

void progress_clear(struct progress *progress)
{
    end_step(progress);
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
