/* The state of a process. Private to process*.c and to capture/exec/aria. */
#ifndef CAPTURE_EXEC_KERNEL_PROCESS_STATE_H
#define CAPTURE_EXEC_KERNEL_PROCESS_STATE_H

#include "capture/exec/dispatch/breakpoints.h"
#include "capture/exec/kernel/process.h"
#include "capture/exec/kernel/regions.h"
#include "capture/exec/kernel/signals.h"
#include "capture/exec/kernel/system_call.h"

struct process_threads;

/* Callbacks to a control program's engine (capture/exec/aria). All are present. */
struct process_control {
    /* Translated code in this range has changed or was unmapped. */
    void (*changed)(void *context, uint64_t start, uint64_t end);
    /* Another thread is about to replace process->thread. */
    void (*switching)(void *context, struct exec_thread *next);
    /* Executes an instruction that executor_define() has reported, or turns *stop into its fault.
     */
    int (*define)(void *context, struct executor_stop *stop, struct bt_error *error);
};

#define PROCESS_WATCHED 64u

struct process {
    struct process_settings settings;
    const struct process_operations *operations; /* settings.operations, or an empty table */
    struct space *space;
    struct load *load;
    struct modules *modules;
    struct system_calls *calls;
    struct exec_thread *thread;
    struct executor *executor;
    struct executor_operations executor_operations;
    struct signals *signals; /* like executor, of the thread whose turn it is */
    struct process_threads *threads;
    struct bt_error *error;                /* argument of process_run() */
    int result;                            /* result of process_run() */
    const struct process_control *control; /* NULL without a control program */
    void *control_context;
    bool is_child;
    bool traps_clock; /* PR_SET_TSC: reading the time-stamp counter raises a signal */
    bool shares;      /* a child in its parent's memory: no records are put */
    bool ended;
    struct process_end end;
    struct regions regions;
    struct breakpoints watched;              /* process_watch() */
    uint64_t watched_pages[PROCESS_WATCHED]; /* watch(): pages watched at the change `watched_at` of
                                                the mappings, by their lowest bits; 0: none */
    unsigned watched_at;
    struct process_store *store;            /* translations on disk; NULL: none */
    char store_refusal[PROCESS_NOTE_BYTES]; /* why there are none; empty: no reason */
};

/* The parts of process_run(). begin: binds the calling thread and takes over its signals. step:
 * runs the executor once and handles the reason why it stopped. loop: steps until the program has
 * ended. finish: undoes begin. */
int process_begin(struct process *process, struct bt_error *error);
int process_step(struct process *process, struct executor_stop *stop, struct bt_error *error);
int process_loop(struct process *process, struct bt_error *error);
void process_finish(struct process *process);

/* Handles the reason why the executor stopped. Called in the host of the thread, if it has one. */
int process_handle(struct process *process, struct executor_stop *stop, struct bt_error *error);

/* The number of bytes from an address on that may be read and executed; 0: none. Watches their
 * pages. (exec_readable_function; the context is the process.) */
size_t process_readable(void *context, uint64_t address);

/* process_store.c: opens the translations of a loaded program for the executor; excludes pages
 * whose code has changed; writes new translations after the run. */
void process_store_open(struct process *process);
void process_store_changed(struct process *process, uint64_t start, uint64_t end);
void process_store_save(struct process *process);
void process_store_free(struct process *process);

/* Fills in the signal that the instruction at rip raises; or EXECUTOR_INTERRUPTED: the bytes there
 * have changed and must be executed again. */
void process_trap(struct process *process, struct executor_stop *stop);

/* The same for an instruction that cannot be executed here: fills in the signal that it would
 * raise, or returns BT_USAGE with the reason: it would not raise one. */
int process_refused(struct process *process, struct executor_stop *stop, struct bt_error *error);

/* Makes prctl's PR_SET_TSC or PR_GET_TSC, and fills in the result. False: it is another call. */
bool process_clock_call(struct process *process, struct system_call *call);

/* Emulates a call of the vsyscall page if a fault at rip is one. True: it is done, and rip is its
 * return address. False: *stop is the fault. */
bool process_vsyscall(struct process *process, struct executor_stop *stop);

/* begin: sets up the regions at the program's start. update: the executor has stopped at a
 * breakpoint, or at its limit. apply: sets trace, limit and breakpoints of the executor to the
 * regions' state. switch: the same after a switch of threads. */
void process_regions_begin(struct process *process);
void process_regions_update(struct process *process, bool at_place);
void process_regions_apply(struct process *process);
void process_regions_switch(struct process *process);

/* The current limit of the executor (executor_limit). */
uint64_t process_regions_limit(const struct process *process);

/* Whether there may be more than one region. */
bool process_regions_repeat(const struct process_regions *regions);

/* Makes clone, clone3, fork or vfork, and fills in the result. A child that shares our memory runs
 * to its end inside. */
void process_clone(struct process *process, struct system_call *call);

/* Makes execve or execveat; returns only if it fails. */
void process_execute(struct process *process, struct system_call *call);

#endif
