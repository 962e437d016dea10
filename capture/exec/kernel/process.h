/*
 * Runs one program under the executor: loads it, executes it, makes its system calls, delivers its
 * signals and starts its children, until it ends or reaches a limit.
 *
 * Threads of the program run in turns of a fixed number of instructions (process_thread.h). Each
 * thread is a processor in the records: the lowest number from 0 on that no thread had before; when
 * process_settings.numbers are used, the lowest that no living thread has; living threads beyond
 * 256 share 255. Records are put in the order of execution of the whole process.
 *
 * A child starts in the state of its parent. A child of vfork or posix_spawn shares our memory
 * until it ends or executes another program; it is not traced. A program that executes another
 * program is replaced by it, untranslated unless `execute` provides another way.
 */
#ifndef CAPTURE_EXEC_KERNEL_PROCESS_H
#define CAPTURE_EXEC_KERNEL_PROCESS_H

#include "capture/exec/dispatch/executor.h"
#include "capture/exec/memory/initial_stack.h"
#include "capture/exec/memory/modules.h"
#include "formats/base/named_fields.h"

struct process;
struct signal_report; /* signals.h */
struct system_call;   /* system_call.h */

/*
 * The regions of the execution that are put (regions.h). By default there is one region: it opens
 * `skip` instructions after the instruction at `from` is first reached, and closes after exactly
 * `limit` instructions or before the instruction at `until`. Then the program continues without a
 * trace, or ends (PROCESS_LIMITED). Children made before that have the same regions.
 *
 * With `repeats` a region opens at every `from` and closes at `until`; with `calls` it opens at the
 * entry of the function at `from` and closes at the return of that call, for each thread
 * separately; with `markers` at the markers of mark.h. Inside regions, after `skip`, `on`
 * instructions are put, the next `off` are not, and so on. The limit counts the instructions that
 * are put.
 */
struct NAMED_FIELDS process_regions {
    uint64_t from;                /* address; 0: the program's start; or PROCESS_ADDRESS_UNKNOWN */
    uint64_t skip;                /* number of instructions that are not put */
    uint64_t limit;               /* number of instructions that are put; 0: all */
    uint64_t until;               /* address; 0: none; or PROCESS_ADDRESS_UNKNOWN */
    uint64_t on, off;             /* sampling, in instructions; off 0: no sampling */
    bool repeats, calls, markers; /* at most one of them */
    bool ends;                    /* the program ends when its last region has closed */
};
#define PROCESS_ADDRESS_UNKNOWN UINT64_MAX /* until process_set_region() */

#define PROCESS_NOTE_BYTES 512 /* of process_store_refusal() */

#define PROCESS_QUANTUM 10000u /* default length of a turn, in instructions */

#define PROCESS_LEADING    8u /* maximum number of leading arguments of `execute` */
#define PROCESS_PATH_BYTES 4096
#define PROCESS_OWN_PATH   "/proc/self/exe" /* the executable of bustap itself */

/* A program that is about to be executed. */
struct process_execution {
    const char *path; /* as the kernel names it: with a descriptor, /dev/fd/N or /dev/fd/N/PATH */
    int file;         /* descriptor of its file, for reading, close-on-exec; -1: open() failed */
    int failure;      /* errno of that open() */
    bool is_child;    /* the caller is a child that shares our memory */
};

enum process_ending {
    PROCESS_EXITED,  /* value: the exit status */
    PROCESS_KILLED,  /* value: the signal */
    PROCESS_LIMITED, /* the last region has closed, with `ends`; value: 0 */
    PROCESS_UNABLE   /* it cannot continue: the result is negative with *error */
};

struct NAMED_FIELDS process_end {
    enum process_ending ending;
    int value;
    bool is_child; /* the caller is a child that fork made */
};

/*
 * Callbacks of a process to its owner. A member may be NULL: the event is ignored. All of them are
 * called with process_settings.context, in the thread that runs the process.
 */
struct process_operations {
    /* Receives records; may be NULL without a trace. BT_CLOSED closes the regions for good. */
    executor_put_function *put;

    /* Receives trace entries instead of records: trace_expand.h. NULL: put() receives records. */
    trace_take_function *take;

    /* executor_count_function (executor.h). NULL: take() counts instructions. */
    executor_count_function *count;

    /* The next record does not follow the previous one: of one processor, or (-1) of any. */
    void (*gap)(void *context, int processor);

    /* What happened to a processor before its next instruction: a signal, or the begin of a thread
     * whose number another thread had before. An instruction that raises a signal is put before. */
    void (*event)(void *context, unsigned processor, enum record_event event);

    /* A thread has ended, and all of its records have been put. */
    void (*thread_ended)(void *context, unsigned processor);

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

    /* A block was translated (code_cache.h). It is valid during the call. */
    void (*translated)(void *context, unsigned processor, const struct block *block);

    /* A signal was delivered to the program, or ends it. */
    void (*signalled)(void *context, unsigned processor, const struct signal_report *signal);

    /* A system call has returned; or, with `returned` false, is one that may not return: exit,
     * exit_group, rt_sigreturn, execve, execveat. Its result may be EXEC_SYSTEM_CALL_AGAIN: a
     * signal interrupted it, and the program repeats it. */
    void (*called)(void *context, unsigned processor, const struct system_call *call,
                   bool returned);

    /* A thread has reached an address of process_watch(), and executes the instruction there next.
     * All records of the instructions before it have been put. registers: by enum
     * decode_register. */
    void (*reached)(void *context, unsigned processor, uint64_t address, const uint64_t *registers);

    /* The program has met a limit that only exists under bustap: `what` it did and what helps, a
     * sentence without its subject. Called once for each kind of limit. */
    void (*notice)(void *context, const char *what);
};

struct process_settings {
    enum exec_trace trace;
    bool stepping; /* leaves translated code after each branch: executor.h */
    struct process_regions regions;
    uint64_t quantum; /* instructions per turn of a thread, if there are several;
                         0: PROCESS_QUANTUM */
    bool repetitions; /* of string instructions have fetches: trace_expand.h */
    unsigned numbers; /* number of processors used before one is used again; 0: 256 */
    bool stores;      /* uses and keeps translations on disk: doc/translations-file.md */
    size_t cache_bytes, buffer_bytes; /* executor.h */
    const char *file;                 /* opened instead of the program's path; NULL: the path */
    struct initial_stack_options stack;
    const struct process_operations *operations; /* owned by the caller; NULL: none */
    void *context;                               /* passed to all operations */
};

/*
 * Loads a program as load_new() does, into the calling process. A process may have only one at a
 * time. Call it in the thread that runs the program, while all other threads block all signals.
 * *settings is copied. NULL with *error: the program cannot be executed, and none of it has run.
 */
struct process *process_new(const char *path, const char *const *arguments,
                            const struct process_settings *settings, struct bt_error *error);
void process_free(struct process *process);

/* Runs the program to its end; call it once. It also returns in a child that fork made, at the end
 * of the child. 0, or a negative code: BT_USAGE names what the program did that cannot be executed
 * here, BT_MEMORY, or the code of put(). *end is filled in in every case. */
int process_run(struct process *process, struct process_end *end, struct bt_error *error);

/* Sets the addresses where regions open and close, once they are known: in `loaded`, or before the
 * run. */
void process_set_region(struct process *process, uint64_t from, uint64_t until);

/*
 * Reports when execution reaches an address, as long as the regions last: in `loaded` or `reached`,
 * or before the run. Each report leaves translated code, about a microsecond. 0 or BT_MEMORY.
 */
int process_watch(struct process *process, uint64_t address);

/* After the run: why translations on disk were not used or not kept although
 * process_settings.stores wants them, a sentence for the user; NULL: they were, or there is nothing
 * to say. */
const char *process_store_refusal(const struct process *process);

/* Reads the program's memory in a callback, also at invalid addresses. 0, or -EFAULT. */
int process_read(struct process *process, void *bytes, uint64_t address, size_t size);

/* The program's mapping with an address, in a callback: its range. A heap of brk is none. */
bool process_mapping(struct process *process, uint64_t address, uint64_t *begin, uint64_t *end);

/* The state of the thread that a callback is about: registers by enum decode_register, and rip. */
const uint64_t *process_registers(const struct process *process);
uint64_t process_instruction(const struct process *process);

/* Whether a callback is about a child that shares our memory (vfork), and is not traced. */
bool process_is_in_child(const struct process *process);

/* Closes the regions for good, without ending the program: in `forked` or `loaded`. */
void process_close_regions(struct process *process);

/* Whether a region has opened so far. */
bool process_has_opened(const struct process *process);

/* Hides a descriptor of bustap: the program can no longer close or replace it. 0, or BT_USAGE: too
 * many are hidden (system_call.h). Not while the program runs. */
int process_hide(struct process *process, int descriptor, struct bt_error *error);

/* The program's memory limits, RLIMIT_AS and then RLIMIT_DATA, each soft and hard: of the program
 * that executes another one, in `execute` or `check`; for that one, before the run. */
#define PROCESS_LIMITS 4u
void process_get_limits(const struct process *process, uint64_t limits[PROCESS_LIMITS]);
void process_set_limits(struct process *process, const uint64_t limits[PROCESS_LIMITS]);

/* Number of switches between threads so far. Not while the program runs. */
uint64_t process_switches(const struct process *process);

/* Number of instructions put so far. Not while the program runs. */
uint64_t process_instructions(const struct process *process);

/* The files of the program's code; owned by the process. Not while the program runs. */
const struct modules *process_modules(const struct process *process);

/* Ends the calling process in the way the program ended. */
_Noreturn void process_exit(const struct process_end *end);

#endif
