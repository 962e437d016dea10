/*
 * A whole program under the executor: loaded, run, its system calls done, its signals delivered,
 * its children begun, until it ends or a limit is met.
 *
 * Threads take turns of so many instructions: process_thread.h. Each has a processor of its own in
 * the records, from 0 on, the lowest that no thread has that lives; more than 256 share 255.
 * Records are put in the order in which everything happened as a whole: a turn's after the other's,
 * each thread's in its program's order.
 *
 * Children begin with what their parent is; one that vfork or posix_spawn made shares our memory
 * until it ends or executes another program, and is not in the trace. A program that executes
 * another one is replaced by it, untranslated unless `execute` says how.
 */
#ifndef CAPTURE_EXEC_KERNEL_PROCESS_H
#define CAPTURE_EXEC_KERNEL_PROCESS_H

#include "capture/exec/dispatch/executor.h"
#include "capture/exec/memory/initial_stack.h"
#include "capture/exec/memory/modules.h"
#include "formats/base/named_fields.h"

struct process;

/*
 * Which parts of what a program does are put (regions.h). Without more than these, one: it opens
 * when the instruction at `from` is about to be executed for the first time, and `skip`
 * instructions later; it closes after `limit` instructions, not one more, or when the instruction
 * at `until` is about to be executed. Then the program goes on without a trace, or ends
 * (PROCESS_LIMITED). The children that it makes before are the same.
 *
 * With `repeats` it opens at `from`, and closes at `until`, again and again; with `calls` at the
 * entry of the function at `from`, and at the return of that very call, each thread for itself;
 * with `markers` at those of mark.h. Of what is executed while it is open `on` instructions are
 * put, after those that are skipped, `off` are not, and so on. The limit counts what is put.
 */
struct NAMED_FIELDS process_regions {
    uint64_t
        from; /* 0: from the beginning; PROCESS_ADDRESS_UNKNOWN: process_set_region() will tell */
    uint64_t skip;                /* instructions that are not put */
    uint64_t limit;               /* instructions that are; 0: all */
    uint64_t until;               /* 0: nowhere; PROCESS_ADDRESS_UNKNOWN */
    uint64_t on, off;             /* off 0: all */
    bool repeats, calls, markers; /* one of them at most */
    bool ends;                    /* the program, with the regions */
};
#define PROCESS_ADDRESS_UNKNOWN UINT64_MAX

#define PROCESS_QUANTUM 10000u /* instructions of a turn, unless another is asked for */

#define PROCESS_LEADING    8u /* arguments that `execute` can put in front */
#define PROCESS_PATH_BYTES 4096
#define PROCESS_OWN_PATH   "/proc/self/exe" /* of our own program */

/* A program that is about to be executed. */
struct process_execution {
    const char *path; /* as the kernel names it: with a descriptor, /dev/fd/N or /dev/fd/N/PATH */
    int file;      /* its file, open for reading, closed on execution; -1: it cannot be opened, */
    int failure;   /* for this reason (errno) */
    bool is_child; /* a child that shares our memory executes it */
};

enum process_ending {
    PROCESS_EXITED,  /* value: the status */
    PROCESS_KILLED,  /* value: the signal */
    PROCESS_LIMITED, /* the regions has closed, and `ends`; value: 0 */
    PROCESS_UNABLE   /* cannot go on: *error says why, the result is negative */
};

struct NAMED_FIELDS process_end {
    enum process_ending ending;
    int value;
    bool is_child; /* this is a child that fork made, not the process that began */
};

/*
 * Callbacks of a process to its owner. A member may be NULL: the event is ignored. All of them are
 * called with process_settings.context, and in the thread that runs the process, except that with
 * process_settings.parallel put() and take() run in the thread that puts records.
 */
struct process_operations {
    /* Receives records; may be NULL without a trace. BT_CLOSED closes the regions. */
    executor_put_function *put;

    /* Receives trace entries instead of records: trace_expand.h. NULL: put() receives records. */
    trace_take_function *take;

    /* The next record does not follow the previous one: of one processor, or (-1) of any. */
    void (*gap)(void *context, int processor);

    /* In a child that fork made, before it continues: release what belongs to the parent alone, for
     * example files being written. With shares_files parent and child share their descriptors. */
    void (*forked)(void *context, bool shares_files);

    /*
     * The process, or a child that shares its memory, executes another program. `execute` fills in
     * at most PROCESS_LEADING leading arguments with which PROCESS_OWN_PATH executes that program;
     * the program's own arguments follow them. It returns their number, or 0: the program is
     * executed untranslated. `check` then receives all arguments and the environment and returns
     * whether the program can be executed in this way; if not, it is executed untranslated.
     * `execute_failed`: the execve failed nevertheless, with the errno in `failure`. None is called
     * for an execve of the program that fails. All three are NULL, or none: without them programs
     * are executed untranslated.
     */
    size_t (*execute)(void *context, const struct process_execution *execution,
                      const char **leading);
    bool (*check)(void *context, const struct process_execution *execution, char *const *arguments,
                  char *const *environment);
    void (*execute_failed)(void *context, const struct process_execution *execution);

    /* Another program replaces this one; `path` as in process_execution. Not called in children of
     * vfork, nor for an execve that fails. */
    void (*executing)(void *context, const char *path);

    /* Files with code were mapped or unmapped: called before the first instruction, and after
     * system calls before any of that code is executed. */
    void (*loaded)(void *context, const struct modules *modules);

    /* The program has met a limit that only exists under bustap: `what` it did and what helps, a
     * sentence without its subject. Called once for each kind of limit. */
    void (*notice)(void *context, const char *what);
};

struct process_settings {
    enum exec_trace trace;
    bool stepping; /* leaves translated code after each branch: executor.h */
    bool parallel; /* puts records in a separate thread, which blocks all
                      signals; children that fork made have one as well */
    struct process_regions regions;
    uint64_t quantum;                 /* instructions of a turn where there are several threads;
                                         0: PROCESS_QUANTUM */
    size_t cache_bytes, buffer_bytes; /* executor.h */
    const char *file;                 /* opened instead of the program's path; NULL: the path */
    struct initial_stack_options stack;
    const struct process_operations *operations; /* owned by the caller; NULL: none */
    void *context;                               /* of all operations */
};

/*
 * Loads a program as load_new() does, into the calling process, whose only one it is. Call it in
 * the thread that runs it, while all other threads block all signals. Settings are copied. NULL
 * with *error where it cannot be executed, nothing of it having run.
 */
struct process *process_new(const char *path, const char *const *arguments,
                            const struct process_settings *settings, struct bt_error *error);
void process_free(struct process *process);

/* Runs it to its end; once. In a child that fork made it returns, too, at that child's end. 0, or a
 * negative code: BT_USAGE says what the program did that cannot be done here, BT_MEMORY, or what
 * put() returned; *end is there in any case. */
int process_run(struct process *process, struct process_end *end, struct bt_error *error);

/* Where the regions opens or closes, once it is known: in `loaded`, or before the run. */
void process_set_region(struct process *process, uint64_t from, uint64_t until);

/* Closes the regions now, without ending the program: in `forked` or `loaded`. */
void process_close_regions(struct process *process);

/* Whether it has opened so far. */
bool process_has_opened(const struct process *process);

/* A descriptor of ours, which the program can neither close nor replace from now on. 0, or
 * BT_USAGE: there are too many (system_call.h). Not while it runs. */
int process_hide(struct process *process, int descriptor, struct bt_error *error);

/* How often the turn went from one thread to another so far. Not while it runs. */
uint64_t process_switches(const struct process *process);

/* Instructions that were put so far. Not while it runs. */
uint64_t process_instructions(const struct process *process);

/* The files that its code is from: they belong to the process. Not while it runs. */
const struct modules *process_modules(const struct process *process);

/* Ends the calling process in the way that the program ended. */
_Noreturn void process_exit(const struct process_end *end);

#endif
