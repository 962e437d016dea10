#define _DEFAULT_SOURCE /* kill */
#include "capture/exec/alive.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Behind the process's name, which can be anything: state, 16 numbers, how many threads, one more,
 * since when. */
#define FORM ") %c%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%ld%*s%llu"

struct alive alive_process(pid_t number)
{
    struct alive process = {number, 0};
    char path[40], text[1024], state;
    long threads;
    unsigned long long since;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)number);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[bytes > 0 ? bytes : 0] = '\0';
    const char *name_end = strrchr(text, ')');
    if (name_end && sscanf(name_end, FORM, &state, &threads, &since) == 3)
        process.since = strchr("ZX", state) && threads <= 1 ? 0 : since;
    else if (kill(number, 0) == 0 || errno == EPERM)
        process.since = ALIVE_UNKNOWN;
    return process;
}

bool alive_still(const struct alive *process)
{
    uint64_t since = alive_process(process->number).since;
    return since != 0 && process->since != 0 &&
           (since == process->since || since == ALIVE_UNKNOWN || process->since == ALIVE_UNKNOWN);
}
