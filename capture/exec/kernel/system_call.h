/*
 * The program's system calls. Most are passed to the kernel unchanged. Calls that concern the
 * address space, hidden descriptors, and files such as /proc/self/exe are emulated, so that the
 * program sees itself and not bustap. Calls that end, create or interrupt threads and programs are
 * left to the caller.
 *
 * Several threads may make calls at the same time.
 */
#ifndef CAPTURE_EXEC_KERNEL_SYSTEM_CALL_H
#define CAPTURE_EXEC_KERNEL_SYSTEM_CALL_H

#include "capture/exec/memory/initial_stack.h"
#include "capture/exec/memory/load.h"

struct system_calls;

/* The outcome, and what the caller must do. */
enum system_call_outcome {
    SYSTEM_CALL_DONE,       /* result goes into rax */
    SYSTEM_CALL_EXIT,       /* the thread ends: exit */
    SYSTEM_CALL_EXIT_GROUP, /* the program ends: exit_group */
    SYSTEM_CALL_CLONE,      /* a thread or process begins: clone, clone3, fork, vfork */
    SYSTEM_CALL_EXECUTE,    /* another program: execve, execveat */
    SYSTEM_CALL_SIGNAL,     /* the caller keeps handlers, masks and stacks of signals:
                               rt_sigaction, rt_sigprocmask, rt_sigreturn, rt_sigsuspend,
                               sigaltstack */
    SYSTEM_CALL_UNABLE      /* the program cannot continue under a translator: `why` */
};

struct system_call {
    uint64_t number;
    uint64_t arguments[6];             /* rdi, rsi, rdx, r10, r8, r9 */
    uint64_t fs_base;                  /* the thread's; may be changed (arch_prctl) */
    int64_t result;                    /* DONE: a value, or a negative errno */
    const volatile uint8_t *interrupt; /* trampoline.h: nonzero: a signal is pending, and the result
                                          may be EXEC_SYSTEM_CALL_AGAIN; NULL: never */
    /* Called around a part that may block; other threads may run meanwhile. NULL: none. */
    void (*before_block)(void *whose);
    void (*after_block)(void *whose);
    void *whose;
    const char *why; /* UNABLE: a sentence without its subject, "sets the gs base, ..." */
};

/* For a program that was loaded into space and has the initial stack start. space must outlive the
 * calls; load and start are copied. NULL with *error: no memory. */
struct system_calls *system_calls_new(struct space *space, const struct load *load,
                                      const struct initial_stack *start, struct bt_error *error);
void system_calls_free(struct system_calls *calls);

/* Hides a descriptor of bustap: the program can neither close nor replace it. BT_USAGE: there are
 * SYSTEM_CALLS_HIDDEN_MAX already. Not during a system call. */
#define SYSTEM_CALLS_HIDDEN_MAX 32
int system_calls_hide(struct system_calls *calls, int descriptor, struct bt_error *error);

/* Sets the function that reports limits that the program has met: `notice` of process.h. */
void system_calls_notice(struct system_calls *calls,
                         void (*notice)(void *context, const char *what), void *context);

/* Before the process executes another program untranslated (executes): gives the kernel the
 * program's memory limits, which are emulated otherwise. If that has failed (!executes): takes them
 * back. */
void system_calls_execute(struct system_calls *calls, bool executes);

/* Save and restore the limits of the parent of a child that shares our memory. */
#define SYSTEM_CALLS_SAVED_BYTES 32
void system_calls_save(const struct system_calls *calls, uint8_t kept[SYSTEM_CALLS_SAVED_BYTES]);
void system_calls_restore(struct system_calls *calls, const uint8_t kept[SYSTEM_CALLS_SAVED_BYTES]);

/* Called around a call of the kernel. */
static inline void system_call_before_block(const struct system_call *call)
{
    if (call->before_block)
        call->before_block(call->whose);
}

static inline void system_call_after_block(const struct system_call *call)
{
    if (call->after_block)
        call->after_block(call->whose);
}

/* Makes the call, or returns who must make it. Blocks as long as the system call does. */
enum system_call_outcome system_call_do(struct system_calls *calls, struct system_call *call);

/*
 * If the path at an address leads to the program's /proc/self/exe, the path of the program's file,
 * which is owned by calls; else NULL. For execve.
 */
const char *system_calls_own_path(struct system_calls *calls, uint64_t address);

/* The path of the program's file. */
const char *system_calls_path(const struct system_calls *calls);

#endif
