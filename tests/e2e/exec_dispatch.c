/*
 * Runs a program untranslated with its system calls emulated by capture/exec/kernel/system_call:
 * the kernel hands over calls from below 4 GiB (syscall user dispatch). The duties of the
 * translator's callers are done in the simplest way for programs of one thread. Children run
 * natively.
 *
 * usage: exec_dispatch PROGRAM [ARGUMENT...]     126: this kernel cannot hand over system calls
 */
#define _GNU_SOURCE /* REG_*, CLONE_* */
#include "capture/exec/kernel/system_call.h"
#include "tests/e2e/exec_go.h"

#include <asm/prctl.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON           1
#endif

extern char **environ;

/* Global because a signal handler has no context. */
static struct system_calls *calls;
static volatile uint64_t host_fs;
static volatile uint64_t program_fs;
static char selector =
    1; /* SYSCALL_DISPATCH_FILTER_BLOCK: hands over calls of other code than ours */

__attribute__((naked, used)) static void signal_return(void)
{
    __asm__("mov $15, %eax\n\tsyscall");
}

/* Waits with the program's fs while a handler of the program may run, then restores our own. */
static volatile uint64_t resume_at;
__attribute__((naked, used)) static void wait_outside(void)
{
    __asm__("syscall\n\tjmp *%c0(%%rip)" : : "i"(&resume_at));
}

static int64_t kernel(uint64_t number, const uint64_t arguments[6])
{
    long result = syscall((long)number, arguments[0], arguments[1], arguments[2], arguments[3],
                          arguments[4], arguments[5]);
    return result == -1 ? -errno : result;
}

/* The effective mask is the one restored after the handler. */
static int64_t change_mask(const struct system_call *call, sigset_t *kept)
{
    const uint64_t *set = (const uint64_t *)(uintptr_t)call->arguments[1];
    uint64_t *old = (uint64_t *)(uintptr_t)call->arguments[2];
    uint64_t mask;
    memcpy(&mask, kept, sizeof mask);
    if (old)
        *old = mask;
    if (!set)
        return 0;
    if (call->arguments[0] == SIG_BLOCK)
        mask |= *set;
    else if (call->arguments[0] == SIG_UNBLOCK)
        mask &= ~*set;
    else
        mask = *set;
    mask &= ~((uint64_t)1 << (SIGSYS - 1));
    memcpy(kept, &mask, sizeof mask);
    return 0;
}

static int64_t do_signal(const struct system_call *call, ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    if (call->number == SYS_rt_sigreturn) { /* with the program's stack, but from our code */
        registers[REG_RIP] = (greg_t)(uintptr_t)signal_return;
        return 0;
    }
    if (call->number == SYS_rt_sigsuspend) {
        resume_at = (uint64_t)registers[REG_RIP];
        registers[REG_RIP] = (greg_t)(uintptr_t)wait_outside;
        return (int64_t)call->number;
    }
    if (call->number == SYS_rt_sigprocmask)
        return change_mask(call, &context->uc_sigmask);
    if (call->number == SYS_sigaltstack ||
        (call->number == SYS_rt_sigaction && call->arguments[0] == SIGSYS))
        return 0;
    return kernel(call->number, call->arguments);
}

/* A child gets a copy of everything, whatever the flags. */
static int64_t do_clone(const struct system_call *call, ucontext_t *context)
{
    bool clone = call->number == SYS_clone;
    if (call->number == SYS_clone3 || (clone && (call->arguments[0] & CLONE_THREAD)))
        return -ENOSYS;
    uint64_t arguments[6];
    memcpy(arguments, call->arguments, sizeof arguments);
    if (!clone)
        return kernel(SYS_fork, arguments);
    arguments[0] &= ~(uint64_t)(CLONE_VM | CLONE_VFORK);
    arguments[1] = 0;
    int64_t result = kernel(SYS_clone, arguments);
    if (result == 0 && call->arguments[1])
        context->uc_mcontext.gregs[REG_RSP] = (greg_t)call->arguments[1];
    return result;
}

static int64_t do_execute(const struct system_call *call, const ucontext_t *context)
{
    sigprocmask(SIG_SETMASK, &context->uc_sigmask, NULL); /* inherited by the next program */
    uint64_t arguments[6];
    memcpy(arguments, call->arguments, sizeof arguments);
    const char *path = system_calls_own_path(calls, arguments[0]);
    if (path && call->number == SYS_execve)
        arguments[0] = (uintptr_t)path;
    return kernel(call->number, arguments);
}

__attribute__((noinline)) static void dispatch(ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    struct system_call call = {
        .number = (uint64_t)registers[REG_RAX],
        .arguments = {(uint64_t)registers[REG_RDI], (uint64_t)registers[REG_RSI],
                      (uint64_t)registers[REG_RDX], (uint64_t)registers[REG_R10],
                      (uint64_t)registers[REG_R8], (uint64_t)registers[REG_R9]},
        .fs_base = program_fs,
    };
    int64_t result = 0;
    switch (system_call_do(calls, &call)) {
    case SYSTEM_CALL_DONE:
        result = call.result;
        break;
    case SYSTEM_CALL_EXIT:
    case SYSTEM_CALL_EXIT_GROUP:
        syscall(SYS_exit_group, call.arguments[0]);
        break;
    case SYSTEM_CALL_CLONE:
        result = do_clone(&call, context);
        break;
    case SYSTEM_CALL_EXECUTE:
        result = do_execute(&call, context);
        break;
    case SYSTEM_CALL_SIGNAL:
        result = do_signal(&call, context);
        break;
    case SYSTEM_CALL_UNABLE:
        dprintf(2, "the program %s\n", call.why);
        syscall(SYS_exit_group, 125);
        break;
    }
    program_fs = call.fs_base;
    registers[REG_RAX] = result;
}

/* Without checks that use thread-local data: fs is still the program's. */
__attribute__((no_stack_protector, no_sanitize("address", "undefined"))) static void
set_fs(uint64_t base)
{
    uint64_t result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((uint64_t)SYS_arch_prctl), "D"((uint64_t)ARCH_SET_FS), "S"(base)
                     : "rcx", "r11", "memory");
}

__attribute__((no_stack_protector, no_sanitize("address", "undefined"))) static void
on_system_call(int number, siginfo_t *information, void *context)
{
    (void)number;
    (void)information;
    set_fs(host_fs);
    dispatch(context);
    set_fs(program_fs);
}

static bool hand_over(void)
{
    uint64_t base = 0;
    syscall(SYS_arch_prctl, ARCH_GET_FS, &base);
    host_fs = base;
    stack_t stack = {.ss_size = 1 << 18, .ss_sp = malloc(1 << 18)};
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    action.sa_sigaction = on_system_call;
    sigfillset(&action.sa_mask); /* the program's handlers need the program's fs */
    return stack.ss_sp && sigaltstack(&stack, NULL) == 0 && sigaction(SIGSYS, &action, NULL) == 0 &&
           prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, SPACE_END,
                 ((uint64_t)1 << 47) - SPACE_END, &selector) == 0;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    struct initial_stack_options options = {.environment = (const char *const *)environ};
    struct bt_error error = {0, ""};
    struct initial_stack start;
    struct space *space = space_new(&layout, SPACE_NATIVE, &error);
    struct load *load =
        space ? load_new(space, argv[1], NULL, (const char *const *)argv + 1, &error) : NULL;
    if (!load || initial_stack_new(&start, space, load, &options, &error) < 0 ||
        !(calls = system_calls_new(space, load, &start, &error))) {
        fprintf(stderr, "%s\n", error.message);
        return 125;
    }
    if (!hand_over()) {
        perror("exec_dispatch");
        return 126;
    }
    forget_handlers();
    go(start.rip, start.rsp);
}
