/*
 * The signals of a process that captures, taken by a separate thread, even while all others block
 * (on a board, a file system, the reader of the output). The first SIGINT or SIGTERM requests the
 * end; one that comes half a second later (patience.h), or a time limit, ends the process.
 */
#ifndef CAPTURE_SIGNAL_GUARD_H
#define CAPTURE_SIGNAL_GUARD_H

#include "formats/base/error.h"

#include <stdbool.h>

struct signal_guard;

struct signal_guard_rules {
    int wake;     /* an eventfd that is written at each signal; -1: none */
    int limit_ms; /* from the first SIGINT or SIGTERM to the end of the process; 0: none */
    bool stopped; /* the end was already requested */
    /* Ends the process: by this signal, or with 0 because the time limit has passed. Called by the
     * guard's thread. Must not block without a limit, nor return. */
    void (*end)(void *context, int number);
    void *context;
};

/* Blocks the signals that a guard takes, SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2, in the
 * calling thread: they stay pending until a guard starts. */
void signal_guard_block(void);

/* Starts the thread; no other thread may have the signals unblocked. NULL and *error on failure. */
struct signal_guard *signal_guard_new(const struct signal_guard_rules *rules,
                                      struct bt_error *error);

/* Changes limit_ms, also after the end was requested. */
void signal_guard_limit(struct signal_guard *guard, int limit_ms);

/* Whether SIGINT or SIGTERM has come. */
bool signal_guard_stops(struct signal_guard *guard);

/* Whether any of the others has come since the last call for it. */
bool signal_guard_take(struct signal_guard *guard, int number);

/* Ends the thread; the signals stay blocked. NULL is allowed. */
void signal_guard_free(struct signal_guard *guard);

/* Ends the process as the signal does by default. */
_Noreturn void signal_guard_die(int number);

#endif
