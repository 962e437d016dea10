#include "capture/stream_output.h"

#include "capture/pipeline_internal.h"
#include "formats/base/clock.h"
#include "formats/base/file_io.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#define POLL_MS     50
#define PATIENCE_MS 5000 /* after the stop */

bool stream_output_is_named(const char *prefix)
{
    return strcmp(prefix, "-") == 0;
}

bool stream_output_is_closed(int file)
{
    struct pollfd end = {.fd = file};
    return poll(&end, 1, 0) > 0 && end.revents & (POLLERR | POLLHUP);
}

/* A stop was requested, or is due: a reader that waits for room in the queue does not see it. */
static bool is_to_stop(struct capture *capture)
{
    int64_t stop_ns = capture->settings.stop_ns;
    pthread_mutex_lock(&capture->mutex);
    bool stop = capture->stop_wanted;
    pthread_mutex_unlock(&capture->mutex);
    return stop || (stop_ns && clock_monotonic_ns() - capture->started_monotonic_ns >= stop_ns);
}

/* Waits until some bytes can be written without waiting. 0, or -1 with errno. */
static int await_room(struct capture *capture, int file)
{
    struct pollfd room = {.fd = file, .events = POLLOUT};
    int64_t until = INT64_MAX;
    for (;;) {
        int result = poll(&room, 1, POLL_MS);
        if (result > 0 || (result < 0 && errno != EINTR))
            return result > 0 ? 0 : -1;
        if (until == INT64_MAX && is_to_stop(capture))
            until = clock_monotonic_ms() + PATIENCE_MS;
        if (clock_monotonic_ms() >= until) {
            errno = ETIMEDOUT;
            return -1;
        }
    }
}

int stream_output_write(void *context, int file, const void *bytes, size_t size, size_t *done)
{
    struct stat status;
    bool regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    *done = 0;
    while (*done < size) {
        size_t some = size - *done;
        size_t written;
        if (!regular && some > PIPE_BUF) /* a pipe that is ready takes as much at once */
            some = PIPE_BUF;
        if (await_room(context, file) < 0)
            return -1;
        int result = file_write(file, (const char *)bytes + *done, some, &written);
        *done += written;
        if (result < 0)
            return -1;
    }
    return 0;
}
