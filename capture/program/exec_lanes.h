/*
 * Ways for records from the processes that execute programs to the one that writes captures: each
 * thread, or process, has one for itself while it runs. In memory that all of them share.
 */
#ifndef CAPTURE_PROGRAM_EXEC_LANES_H
#define CAPTURE_PROGRAM_EXEC_LANES_H

#include "capture/program/record_ring.h"
#include "formats/record/filter.h"

#include <sys/types.h>

#define EXEC_LANES         64u /* at the same time */
#define EXEC_COMMAND_BYTES 64u
#define EXEC_PLACE_BYTES   256u
#define EXEC_DEBUG_BYTES   4096u
#define EXEC_NOTE_BYTES    512u

/* What processes that begin later have to know. */
struct exec_orders {
    bool only_fetch, only_data, each, ends, quiet;
    bool repeats, calls, markers; /* struct process_window */
    uint64_t skip, limit, on, off, quantum;
    char from[EXEC_PLACE_BYTES], until[EXEC_PLACE_BYTES]; /* empty: none */
    char code[EXEC_PLACE_BYTES];                          /* exec_code.h; empty: all */
    bool filters;
    struct filter filter;              /* of records */
    unsigned debug;                    /* exec_debug.h: what is shown */
    char debug_file[EXEC_DEBUG_BYTES]; /* where; empty: standard error */
};

/* Who uses a lane. */
struct exec_user {
    struct alive alive;
    bool held;                        /* exec_lanes_claim; alive is not asked then */
    uint32_t process;                 /* 0: the first, in the order in which they came */
    uint32_t thread;                  /* processor of its records; 0 but with `each` */
    char command[EXEC_COMMAND_BYTES]; /* its command line, as far as it fits */
};

struct exec_lanes;

/* The calling process takes; children are to be made later. for_programs: other programs can join
 * them, too. NULL and *error: no memory. */
struct exec_lanes *exec_lanes_new(const struct exec_orders *orders, bool for_programs,
                                  struct bt_error *error);
/* The same ones in another program, by the descriptor that it was left. */
struct exec_lanes *exec_lanes_join(int descriptor, struct bt_error *error);
void exec_lanes_free(struct exec_lanes *lanes);

const struct exec_orders *exec_lanes_orders(const struct exec_lanes *lanes);
/* Has the descriptor at `lowest`, or after it. A call of it, or of exec_lanes_free(), lets go of
 * all lanes that the process holds. */
int exec_lanes_keep(struct exec_lanes *lanes, int lowest, struct bt_error *error);

/* A new process's number. */
uint32_t exec_lanes_count_process(struct exec_lanes *lanes);

/* A line for who takes the records, to be printed where its user reads: the program has other
 * streams perhaps. It is left out where many wait, and nobody has taken one for a second. */
void exec_lanes_note(struct exec_lanes *lanes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The next one; note has room for EXEC_NOTE_BYTES. False: there is none. */
bool exec_lanes_take_note(struct exec_lanes *lanes, char *note);

/* A process, or a program, that was to be captured is not; how many there were. */
void exec_lanes_miss(struct exec_lanes *lanes);
uint32_t exec_lanes_missed(const struct exec_lanes *lanes);

/* A free lane is the user's from now on. holds: the calling process is the user, and holds it until
 * it ends, or closes the descriptor by executing another program; so that the taker, which may be
 * in another namespace of processes, knows whether it is there. The lane's number; -1: all are in
 * use. */
int exec_lanes_claim(struct exec_lanes *lanes, const struct exec_user *user, bool holds);

/* Whether a lane is in use whose user has ended, so that it is going to be free. `process` is the
 * caller's number: its own lanes are not. */
bool exec_lanes_any_over(struct exec_lanes *lanes, uint32_t process);

/* The taker's: whether the user of a lane is still there. */
bool exec_lanes_alive(const struct exec_lanes *lanes, int lane, const struct exec_user *user);

/* The user's: whether the taker is. A record_ring_taken_function. */
bool exec_lanes_taken(const void *lanes);
/* Its user's process is known now. */
void exec_lanes_set_process(struct exec_lanes *lanes, int lane, pid_t process);
struct record_ring *exec_lanes_ring(struct exec_lanes *lanes, int lane);

/* Whether somebody uses it, and who. */
bool exec_lanes_used(struct exec_lanes *lanes, int lane, struct exec_user *user);

/* The records of a process, by its number, are all there: another program has taken its place. */
void exec_lanes_end_process(struct exec_lanes *lanes, uint32_t process);

/* How often the turn went from thread to thread in a process that ends, as its user counts them;
 * until a lane of it is released. */
void exec_lanes_set_switches(struct exec_lanes *lanes, uint32_t process, uint64_t switches);
uint64_t exec_lanes_switches(const struct exec_lanes *lanes, int lane);

/* All of it has been taken: it is free again. */
void exec_lanes_release(struct exec_lanes *lanes, int lane);

#endif
