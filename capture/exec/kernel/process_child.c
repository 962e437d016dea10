#define _GNU_SOURCE /* clone, syscall */
#include "capture/exec/kernel/process_thread.h"

#include "capture/exec/dispatch/executor_state.h"

#include "capture/exec/dispatch/trampoline.h"
#include "capture/exec/kernel/kernel_clone.h"
#include "capture/exec/memory/program_memory.h"
#include "capture/exec/translate/decode.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_BYTES   ((size_t)256 << 10)
#define THREAD_BYTES  EXEC_THREAD_LOOKUP /* the part of exec_thread that changes */
#define ARGUMENTS_MIN 64                 /* of clone3 */
#define ARGUMENTS_MAX 88
#define EXIT_SIGNAL   0xffu
#define FOR_THREADS   (CLONE_VM | CLONE_THREAD | CLONE_SIGHAND | CLONE_FS | CLONE_FILES)
#define NAMESPACES                                                                                 \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |  \
     CLONE_NEWNET | CLONE_NEWTIME)
#define NOT_FOR_THREADS                                                                            \
    (NAMESPACES | CLONE_PIDFD | KERNEL_CLONE_CLEAR_SIGHAND | KERNEL_CLONE_INTO_CGROUP)
#define FOR_FORK                                                                                   \
    (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID | CLONE_SETTLS |              \
     KERNEL_CLONE_CLEAR_SIGHAND)

static int64_t gather(struct process *process, const struct system_call *call,
                      struct process_clone *arguments)
{
    const uint64_t *given = call->arguments;
    *arguments = (struct process_clone){.exit_signal = SIGCHLD};
    switch (call->number) {
    case SYS_fork:
        return 0;
    case SYS_vfork:
        arguments->flags = CLONE_VFORK | CLONE_VM;
        return 0;
    case SYS_clone:
        *arguments = (struct process_clone){.flags = given[0] & ~(uint64_t)EXIT_SIGNAL,
                                            .exit_signal = given[0] & EXIT_SIGNAL,
                                            .stack = given[1],
                                            .parent_tid = given[2],
                                            .child_tid = given[3],
                                            .tls = given[4]};
        return 0;
    default:
        if (given[1] < ARGUMENTS_MIN)
            return -EINVAL;
        if (given[1] > ARGUMENTS_MAX)
            return -E2BIG;
        arguments->exit_signal = 0;
        arguments->is_clone3 = true;
        return program_read(process->space, arguments, given[0], given[1]);
    }
}

/* Sets what differs from the parent in a child, except its memory. */
static void begin_child(struct process *process, const struct process_clone *arguments)
{
    struct exec_thread *thread = process->thread;
    int own = (int)syscall(SYS_gettid);
    if (arguments->stack)
        thread->registers[DECODE_RSP] = arguments->stack + arguments->stack_size;
    if (arguments->flags & CLONE_SETTLS)
        thread->fs_base = arguments->tls;
    if (arguments->flags & CLONE_CHILD_SETTID)
        program_write(process->space, arguments->child_tid, &own, sizeof own);
    if ((arguments->flags & CLONE_CHILD_CLEARTID) && process->shares)
        syscall(SYS_set_tid_address, arguments->child_tid);
    if (arguments->flags & KERNEL_CLONE_CLEAR_SIGHAND)
        signals_clear(process->signals);
}

static uint64_t pidfd_address(const struct process_clone *arguments)
{
    return arguments->is_clone3 ? arguments->pidfd : arguments->parent_tid;
}

static void end_parent(struct process *process, const struct process_clone *arguments, int child,
                       const struct kernel_clone_results *results)
{
    if (arguments->flags & CLONE_PIDFD)
        program_write(process->space, pidfd_address(arguments), &results->pidfd,
                      sizeof results->pidfd);
    else if (arguments->flags & CLONE_PARENT_SETTID)
        program_write(process->space, arguments->parent_tid, &child, sizeof child);
}

/* --- a child with a copy of our memory ---------------------------------------------------------
 */

/* fork(3) is preferred: it keeps the C library consistent. */
static int64_t fork_somehow(struct process *process, const struct process_clone *arguments,
                            struct kernel_clone_results *results)
{
    if ((arguments->flags & ~(uint64_t)FOR_FORK) || arguments->exit_signal != SIGCHLD ||
        arguments->set_tid_size)
        return kernel_clone_alone(arguments, !process->shares, results);
    pid_t child = fork();
    return child < 0 ? -errno : child;
}

static int64_t fork_child(struct process *process, const struct process_clone *arguments)
{
    struct kernel_clone_results results;
    executor_flush(process->executor);
    (void)executor_instructions(process->executor); /* the child counts on from here */
    int64_t child = fork_somehow(process, arguments, &results);
    if (child != 0) {
        if (child > 0)
            end_parent(process, arguments, (int)child, &results);
        return child;
    }
    process->is_child = true;
    space_forked(process->space);
    process_threads_forked(process, arguments);
    signals_forked(process->signals);
    begin_child(process, arguments);
    signals_resume(process->signals);
    if (process->operations->forked)
        process->operations->forked(process->settings.context, arguments->flags & CLONE_FILES);
    return 0;
}

/* --- a child that shares our memory while we wait ----------------------------------------------
 */

struct vfork_child {
    struct process *process;
    const struct process_clone *arguments;
};

static int run_child(void *context)
{
    const struct vfork_child *start = context;
    struct process *process = start->process;
    struct bt_error error;
    process->shares = true;
    process->is_child = true;
    signals_forked(process->signals);
    executor_limit(process->executor, 0);
    begin_child(process, start->arguments);
    signals_resume(process->signals);
    process->thread->registers[DECODE_RAX] = 0;
    process_loop(process, &error);
    process_exit(&process->end);
}

/* Restores all of our state that the child has changed. */
static int64_t share(struct process *process, const struct process_clone *arguments)
{
    struct exec_thread *thread = process->thread;
    struct vfork_child start = {process, arguments};
    struct kernel_clone_results results;
    const struct process before = *process;
    uint8_t calls[SYSTEM_CALLS_SAVED_BYTES];
    uint8_t registers[THREAD_BYTES];
    uint8_t *vector = malloc(thread->vector_bytes);
    void *signals = signals_save(process->signals);
    uint8_t *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int64_t child = -ENOMEM;
    if (vector && signals && stack != MAP_FAILED) {
        executor_suspend(process->executor);
        system_calls_save(process->calls, calls);
        memcpy(registers, thread, sizeof registers);
        memcpy(vector, thread->vector, thread->vector_bytes);
        child = kernel_clone_sharing(arguments, stack, STACK_BYTES, run_child, &start, &results);
        memcpy(thread, registers, sizeof registers);
        memcpy(thread->vector, vector, thread->vector_bytes);
        signals_restore(process->signals, signals);
        *process = before;
        system_calls_restore(process->calls, calls);
        executor_resume(process->executor);
        executor_limit(process->executor, process_regions_limit(process));
    }
    if (stack != MAP_FAILED)
        munmap(stack, STACK_BYTES);
    free(signals);
    free(vector);
    if (child > 0)
        end_parent(process, arguments, (int)child, &results);
    return child;
}

/* Checks the requests that are not passed to the kernel. */
static int64_t check(const struct process *process, const struct process_clone *arguments)
{
    uint64_t flags = arguments->flags;
    bool is_thread = flags & CLONE_THREAD;
    if (is_thread && ((~flags & FOR_THREADS) || (flags & NOT_FOR_THREADS)))
        return -EINVAL;
    if (is_thread)
        return process->shares ? -EAGAIN : 0;
    if ((flags & CLONE_SIGHAND) ||
        (arguments->is_clone3 && !arguments->stack != !arguments->stack_size))
        return -EINVAL;
    if ((flags & CLONE_VM) && !(flags & CLONE_VFORK))
        return -EAGAIN;
    if ((flags & CLONE_PIDFD) &&
        !space_allows(process->space, pidfd_address(arguments), sizeof(int), PROT_WRITE))
        return -EFAULT;
    return 0;
}

void process_clone(struct process *process, struct system_call *call)
{
    struct process_clone arguments;
    call->result = gather(process, call, &arguments);
    if (call->result == 0)
        call->result = check(process, &arguments);
    if (call->result < 0)
        return;
    if (!process_thread_hold(process)) /* the child must not receive the signal as well */
        call->result = EXEC_SYSTEM_CALL_AGAIN;
    else if (arguments.flags & CLONE_THREAD)
        call->result = process_thread_clone(process, &arguments);
    else if (arguments.flags & CLONE_VM)
        call->result = share(process, &arguments);
    else
        call->result = fork_child(process, &arguments);
    process_thread_resume(process);
    call->fs_base = process->thread->fs_base;
}
