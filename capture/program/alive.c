#define _DEFAULT_SOURCE /* kill */
#include "capture/program/alive.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The fields of /proc/PID/stat after the process's name, which may contain anything: state, 16
 * numbers, number of threads, one number, start time. */
#define FORM ") %c%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%ld%*s%llu"

struct status {
    char state;
    long threads;
    unsigned long long since;
};

/* False: there is no such process, or it cannot be read. */
static bool read_status(struct status *status, pid_t number)
{
    char path[40], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)number);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[bytes > 0 ? bytes : 0] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end &&
           sscanf(name_end, FORM, &status->state, &status->threads, &status->since) == 3;
}

struct alive alive_process(pid_t number)
{
    struct alive process = {.number = number, .since = 0};
    struct status status;
    if (read_status(&status, number))
        process.since = strchr("ZX", status.state) && status.threads <= 1 ? 0 : status.since;
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

bool alive_is_stopped(pid_t number)
{
    struct status status;
    return read_status(&status, number) && status.state == 'T';
}
