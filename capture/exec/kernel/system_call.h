/*
 * The program's system calls. Most go to the kernel as they are; those that concern the address
 * space, the descriptors that are not the program's, and what tells where and who it is, are done
 * here in such a way that the program sees itself and not its host. Those that end, begin or
 * interrupt threads and programs are the caller's.
 *
 * Calls of several threads may go on at the same time.
 */
#ifndef CAPTURE_EXEC_KERNEL_SYSTEM_CALL_H
#define CAPTURE_EXEC_KERNEL_SYSTEM_CALL_H

#include "capture/exec/memory/initial_stack.h"
#include "capture/exec/memory/load.h"

struct system_calls;

/* What was found out, and who goes on. */
enum system_call_outcome {
    SYSTEM_CALL_DONE,       /* result goes into rax */
    SYSTEM_CALL_EXIT,       /* the thread ends: exit */
    SYSTEM_CALL_EXIT_GROUP, /* the program ends: exit_group */
    SYSTEM_CALL_CLONE,      /* a thread or process begins: clone, clone3, fork, vfork */
    SYSTEM_CALL_EXECUTE,    /* another program: execve, execveat */
    SYSTEM_CALL_SIGNAL,     /* the caller keeps handlers, masks and stacks of signals:
                               rt_sigaction, rt_sigprocmask, rt_sigreturn, rt_sigsuspend,
                               sigaltstack */
    SYSTEM_CALL_UNABLE      /* this program cannot go on under a translator; why says it */
};

struct system_call {
    uint64_t number;
    uint64_t arguments[6];             /* rdi, rsi, rdx, r10, r8, r9 */
    uint64_t fs_base;                  /* the thread's; may be changed (arch_prctl) */
    int64_t result;                    /* DONE: a value, or a negative errno */
    const volatile uint8_t *interrupt; /* enter.h: not 0, a signal waits: the result can be
                                          EXEC_SYSTEM_CALL_AGAIN; NULL: none ever does */
    /* Around what may wait: others may go on meanwhile. NULL: nobody is there. */
    void (*before_block)(void *whose);
    void (*after_block)(void *whose);
    void *whose;
    const char *why; /* UNABLE: a sentence without subject, "sets its own gs base, ..." */
};

/* For a program that was loaded into space and given the stack start. They are used as long as the
 * calls are; what load and start tell is copied. NULL and *error: no memory. */
struct system_calls *system_calls_new(struct space *space, const struct load *load,
                                      const struct initial_stack *start, struct bt_error *error);
void system_calls_free(struct system_calls *calls);

/* A descriptor that is ours: the program can neither close nor replace it. At most
 * SYSTEM_CALLS_HIDDEN_MAX; BT_USAGE: that is one too many. Not while a system call goes on. */
#define SYSTEM_CALLS_HIDDEN_MAX 32
int system_calls_hide(struct system_calls *calls, int descriptor, struct bt_error *error);

/* Who is told what the program did that this address space or these calls do not allow: process.h's
 * `notice`. */
void system_calls_notice(struct system_calls *calls,
                         void (*notice)(void *context, const char *what), void *context);

/* Before another program takes the process over, untranslated: the kernel gets the program's limits
 * of memory, which are kept here otherwise. And back, where that has failed. */
void system_calls_execute(struct system_calls *calls, bool executes);

/* A child that shares our memory may change the limits, which are its parent's own. */
#define SYSTEM_CALLS_SAVED_BYTES 32
void system_calls_save(const struct system_calls *calls, uint8_t kept[SYSTEM_CALLS_SAVED_BYTES]);
void system_calls_restore(struct system_calls *calls, const uint8_t kept[SYSTEM_CALLS_SAVED_BYTES]);

/* What is done around a call of the kernel. */
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

/* Does it, or says whose it is. May wait as long as the system call does. */
enum system_call_outcome system_call_do(struct system_calls *calls, struct system_call *call);

/*
 * If the path at an address is this program's /proc/self/exe under any of its names, the path of
 * the program's file, which belongs to calls; else NULL. For the caller's execve.
 */
const char *system_calls_own_path(struct system_calls *calls, uint64_t address);

/* The same, whatever the path. */
const char *system_calls_path(const struct system_calls *calls);

#endif
