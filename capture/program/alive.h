/* Whether a process is alive. */
#ifndef CAPTURE_PROGRAM_ALIVE_H
#define CAPTURE_PROGRAM_ALIVE_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Identifies a process beyond the reuse of its process ID. */
struct NAMED_FIELDS alive {
    pid_t number;
    uint64_t since; /* start time, in clock ticks; 0: it has ended; or ALIVE_UNKNOWN */
};

#define ALIVE_UNKNOWN UINT64_MAX

/* The process that has this process ID now. */
struct alive alive_process(pid_t number);

/* False: its last thread has ended, whether or not its parent has waited for it. */
bool alive_still(const struct alive *process);

/* Whether the process that has this process ID now is stopped, by job control or SIGSTOP: the state
 * of its first thread. */
bool alive_is_stopped(pid_t number);

#endif
