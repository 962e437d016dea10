/*
 * Lanes carry references from the processes that execute programs (users) to the process that
 * writes captures (the taker). Each lane is a ring in shared memory, and belongs to one process, or
 * with `each` to one thread of it, while that runs.
 */
#ifndef CAPTURE_PROGRAM_EXEC_LANES_H
#define CAPTURE_PROGRAM_EXEC_LANES_H

#include "capture/program/message_ring.h"

#include <sys/types.h>

#define EXEC_LANES         64u /* lanes in use at the same time */
#define EXEC_COMMAND_BYTES 64u
#define EXEC_PLACE_BYTES   256u
#define EXEC_FILTER_BYTES  1024u
#define EXEC_DEBUG_BYTES   4096u
#define EXEC_NOTE_BYTES    512u

/* Events of exec_orders.debug. */
#define EXEC_DEBUG_BLOCKS       1u
#define EXEC_DEBUG_SIGNALS      2u
#define EXEC_DEBUG_SYSTEM_CALLS 4u

/* The command's settings for all processes that execute programs. */
struct exec_orders {
    bool only_fetch, only_data, each, ends, quiet;
    bool follow;                  /* child processes, too: exec_inside.h */
    bool repetitions;             /* struct process_settings */
    bool no_cache;                /* process_settings.stores is false */
    bool repeats, calls, markers; /* struct process_regions */
    uint64_t skip, limit, on, off, quantum;
    unsigned numbers;                                     /* process_settings.numbers */
    char from[EXEC_PLACE_BYTES], until[EXEC_PLACE_BYTES]; /* empty: none */
    char code[EXEC_PLACE_BYTES];                          /* code to capture; empty: all */
    char filter[EXEC_FILTER_BYTES];                       /* an expression; empty: every record */
    unsigned debug;                                       /* events to print, EXEC_DEBUG_* */
    char debug_file[EXEC_DEBUG_BYTES];                    /* where they go; empty: standard error */
    char lists[EXEC_DEBUG_BYTES]; /* absolute prefix of the lists of modules of followed processes;
                                     empty: none */
};

/* The user of a lane. */
struct exec_user {
    struct alive alive;
    bool held;        /* a lock shows that it is alive (exec_lanes_claim()), not `alive` */
    uint32_t process; /* number in the order of start, from 0 */
    uint32_t thread;  /* its number: the processor of its records, or from 256 on if another thread
                         had that before; without `each` 0 */
    char command[EXEC_COMMAND_BYTES]; /* command line, truncated */
};

struct exec_lanes;

/* Makes the lanes; the calling process is the taker. Later children share them, and so do programs
 * that they execute (exec_lanes_join()), unless the limit of file sizes (RLIMIT_FSIZE) forbids it
 * and orders->follow is false (exec_lanes_are_inherited()). NULL with *error: no memory. */
struct exec_lanes *exec_lanes_new(const struct exec_orders *orders, struct bt_error *error);

/* Whether programs that are executed can join the lanes. */
bool exec_lanes_are_inherited(const struct exec_lanes *lanes);

/* Maps the same lanes in a followed program, by the inherited descriptor. NULL with *error. */
struct exec_lanes *exec_lanes_join(int descriptor, struct bt_error *error);
void exec_lanes_free(struct exec_lanes *lanes);

const struct exec_orders *exec_lanes_orders(const struct exec_lanes *lanes);

/* Moves the descriptor to the first free number from `lowest` on, and returns it, or a negative
 * code. This and exec_lanes_free() unlock all lanes that the process holds. */
int exec_lanes_keep(struct exec_lanes *lanes, int lowest, struct bt_error *error);

/* Returns the number of a new process. */
uint32_t exec_lanes_count_process(struct exec_lanes *lanes);

/* Passes a line to the taker, which prints it. Waits up to a second if the queue of lines is full,
 * then drops the line. */
void exec_lanes_note(struct exec_lanes *lanes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Takes a line into `note`, of EXEC_NOTE_BYTES bytes. False: none is queued. */
bool exec_lanes_take_note(struct exec_lanes *lanes, char *note);

/* Counts a process or program that could not be captured; their number. */
void exec_lanes_miss(struct exec_lanes *lanes);
uint32_t exec_lanes_missed(const struct exec_lanes *lanes);

/* Gives a free lane to the user. holds: the calling process is the user, and locks the lane until
 * it ends or executes another program; the taker, possibly in another PID namespace, thus detects
 * its end. Returns the lane's number; -1: all are in use. */
int exec_lanes_claim(struct exec_lanes *lanes, const struct exec_user *user, bool holds);

/* Whether the user of a lane has ended, so that the lane becomes free once the taker has emptied
 * it. The caller's number, `process`, says which ones are alive. */
bool exec_lanes_any_over(struct exec_lanes *lanes, uint32_t process);

/* For the taker: whether the user of a lane is alive. */
bool exec_lanes_alive(const struct exec_lanes *lanes, int lane, const struct exec_user *user);

/* For a user: whether the taker is alive. A message_ring_taken_function. */
bool exec_lanes_taken(const void *lanes);

/* Sets the process of a lane's user. */
void exec_lanes_set_process(struct exec_lanes *lanes, int lane, pid_t process);
struct message_ring *exec_lanes_ring(struct exec_lanes *lanes, int lane);

/* Whether the lane is in use; fills in its user. */
bool exec_lanes_used(struct exec_lanes *lanes, int lane, struct exec_user *user);

/* For a user: ends the lane of a ring; the taker releases it. */
void exec_lanes_end(struct exec_lanes *lanes, struct message_ring *ring);

/* Ends all lanes of a process, by its number: another program replaces its program. */
void exec_lanes_end_process(struct exec_lanes *lanes, uint32_t process);

/* Number of switches between the threads of a process. Its user sets it before it ends; it is valid
 * until the lane is released. */
void exec_lanes_set_switches(struct exec_lanes *lanes, uint32_t process, uint64_t switches);
uint64_t exec_lanes_switches(const struct exec_lanes *lanes, int lane);

/* Frees a lane whose records have all been taken. */
void exec_lanes_release(struct exec_lanes *lanes, int lane);

#endif
