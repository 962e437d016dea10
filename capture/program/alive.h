/* What has become of a process. */
#ifndef CAPTURE_PROGRAM_ALIVE_H
#define CAPTURE_PROGRAM_ALIVE_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A process, and none that comes later: numbers are used again. */
struct NAMED_FIELDS alive {
    pid_t number;
    uint64_t since; /* as the kernel counts; 0: it has ended; ALIVE_UNKNOWN: nobody can tell */
};

#define ALIVE_UNKNOWN UINT64_MAX

/* The one that has the number now. */
struct alive alive_process(pid_t number);

/* False: it has ended, though its parent may not know yet. A process has ended with its last
 * thread. */
bool alive_still(const struct alive *process);

/* Whether the process that has the number now is stopped by a signal, job control's or SIGSTOP. Its
 * first thread tells for all. */
bool alive_is_stopped(pid_t number);

#endif
