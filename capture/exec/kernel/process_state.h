/* What the parts of capture/exec/process, and capture/exec/aria on top, share; for nobody else. */
#ifndef CAPTURE_EXEC_KERNEL_PROCESS_STATE_H
#define CAPTURE_EXEC_KERNEL_PROCESS_STATE_H

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

struct process {
    struct process_settings settings;
    const struct process_operations *operations; /* settings.operations, or an empty table */
    struct space *space;
    struct load *load;
    struct modules *modules;
    struct system_calls *calls;
    struct exec_thread *thread;
    struct executor *executor;
    struct signals *signals; /* these two: of the thread whose turn it is */
    struct process_threads *threads;
    struct bt_error *error;                /* of process_run, */
    int result;                            /* and what it returns */
    const struct process_control *control; /* NULL without a control program */
    void *control_context;
    bool is_child;
    bool shares; /* a child in its parent's memory: nothing is put */
    bool ended;
    struct process_end end;
    struct regions regions;
};

/* process_run() in pieces: the thread executes, and its signals are the program's; a run of the
 * executor, with what it stopped for done; steps until the program has ended; all
 * put back. */
int process_begin(struct process *process, struct bt_error *error);
int process_step(struct process *process, struct executor_stop *stop, struct bt_error *error);
int process_loop(struct process *process, struct bt_error *error);
void process_finish(struct process *process);

/* What the executor has stopped for. In the thread's host, where it has one. */
int process_handle(struct process *process, struct executor_stop *stop, struct bt_error *error);

/* Bytes of code from an address on that may be read and executed; 0: none. (exec_readable_function,
 * of a process.) From then on changes of it are noticed. */
size_t process_readable(void *context, uint64_t address);

/* Fills in the signal that the instruction at rip raises, which is none that is executed; or
 * EXECUTOR_INTERRUPTED, where by now there is another. */
void process_trap(struct process *process, struct executor_stop *stop);

/* The same for one that cannot be carried out here, where it would raise a signal; BT_USAGE with
 * what it is where it would not. */
int process_refused(struct process *process, struct executor_stop *stop, struct bt_error *error);

/* A fault at rip may be a call of the vsyscall page: true, it is done, and rip is where it returns
 * to. False: *stop is the fault that it is. */
bool process_vsyscall(struct process *process, struct executor_stop *stop);

/* The regions as the program begins; the executor has come to what it was told to stop for: a
 * place, or its limit; the executor is to do what the regions wants now; another thread has its
 * turn. */
void process_regions_begin(struct process *process);
void process_regions_update(struct process *process, bool at_place);
void process_regions_apply(struct process *process);
void process_regions_switch(struct process *process);

/* The limit that the executor has in it (executor_limit). */
uint64_t process_regions_limit(const struct process *process);

/* Whether it may open more than once. */
bool process_regions_repeat(const struct process_regions *regions);

/* clone, clone3, fork, vfork: fills in the result. Where the child shares our memory it runs here,
 * to its end. */
void process_clone(struct process *process, struct system_call *call);

/* execve and execveat: they return only where they fail. */
void process_execute(struct process *process, struct system_call *call);

#endif
