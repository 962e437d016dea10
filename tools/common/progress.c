#include "tools/common/progress.h"

#include "formats/base/clock.h"
#include "formats/base/printable.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define SECOND_NS   1000000000
#define INTERVAL_NS 200000000

void progress_begin(struct progress *progress, bool quiet_output)
{
    *progress = (struct progress){0};
    progress->wanted = isatty(STDERR_FILENO) && (quiet_output || !isatty(STDOUT_FILENO));
    if (progress->wanted)
        progress->started_ns = clock_monotonic_ns();
}

void progress_show(struct progress *progress, const char *path, uint64_t done, uint64_t total)
{
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
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
