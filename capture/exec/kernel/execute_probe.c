#define _GNU_SOURCE /* clone */
#include "capture/exec/kernel/execute_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)64 << 10)

/*
 * The only code of the probe whose system calls are allowed; all others stop the new program. A
 * function of the call number and six arguments.
 */
int64_t execute_probe_call(uint64_t number, const uint64_t arguments[6]);
extern const uint8_t execute_probe_called[];
__asm__(".text\n"
        ".globl execute_probe_call, execute_probe_called\n"
        ".hidden execute_probe_call, execute_probe_called\n"
        ".type execute_probe_call, @function\n"
        "execute_probe_call:\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %r11\n"
        "    movq 0(%r11), %rdi\n"
        "    movq 8(%r11), %rsi\n"
        "    movq 16(%r11), %rdx\n"
        "    movq 24(%r11), %r10\n"
        "    movq 32(%r11), %r8\n"
        "    movq 40(%r11), %r9\n"
        "    syscall\n"
        "execute_probe_called:\n"
        "    ret\n"
        ".size execute_probe_call, . - execute_probe_call\n");

struct probe {
    uint64_t number;
    const uint64_t *arguments;
    volatile int64_t result;
};

/* --- a child that shares our memory until it executes or ends --- */

struct helper {
    int (*run)(void *context);
    void *context;
    uint8_t *stack; /* stack of run() */
    bool kills;     /* kill the child after it has executed another program */
    bool began;
    int status; /* of the child */
};

static int wait_for(pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, __WALL) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

static int help(void *context)
{
    struct helper *helper = context;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGCHLD, SIG_DFL); /* so that the child can be waited for */
    pid_t child =
        clone(helper->run, helper->stack, CLONE_VM | CLONE_VFORK | SIGCHLD, helper->context);
    helper->began = child > 0;
    if (child > 0 && helper->kills)
        kill(child, SIGKILL);
    if (child > 0)
        helper->status = wait_for(child);
    syscall(SYS_exit, 0);
    return 0;
}

/*
 * A child that executes another program sends SIGCHLD at its end, which our program would see.
 * Therefore its parent is a child of bustap whose end sends no signal. Returns the wait status, or
 * -1: the child was not created.
 */
static int run_in_child(int (*run)(void *context), void *context, bool kills)
{
    uint8_t *stacks =
        mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stacks == MAP_FAILED)
        return -1;
    struct helper helper = {
        .run = run, .context = context, .stack = stacks + STACK_BYTES, .kills = kills};
    pid_t child = clone(help, stacks + 2 * STACK_BYTES, CLONE_VM | CLONE_VFORK, &helper);
    if (child > 0)
        wait_for(child);
    munmap(stacks, 2 * STACK_BYTES);
    return helper.began ? helper.status : -1;
}

/* --- the probe --- */

/* The seccomp filter: the action for all system calls but those of execute_probe_call(). */
static int filter(uint32_t answer, unsigned flags)
{
    const uint64_t allowed = (uintptr_t)execute_probe_called;
    const uint32_t address = offsetof(struct seccomp_data, instruction_pointer);
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, address),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)allowed, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, address + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(allowed >> 32), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, answer),
    };
    const struct sock_fprog program = {sizeof code / sizeof *code, code};
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/* The new program blocks in its first system call, because the only listener of the filter is its
 * own descriptor. If the kernel has no listeners, SIGSYS ends it. */
static bool confine(void)
{
    const struct rlimit none = {0, 0};
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return false;
    int listener = filter(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
    if (listener >= 0) {
        const uint64_t keep[6] = {(uint64_t)listener, F_SETFD, 0};
        return execute_probe_call(SYS_fcntl, keep) == 0;
    }
    setrlimit(RLIMIT_CORE, &none);
    return filter(SECCOMP_RET_TRAP, 0) == 0;
}

static int run_probe(void *context)
{
    static const uint64_t none[6];
    struct probe *probe = context;
    if (confine()) {
        probe->result = 0; /* unless the call returns */
        probe->result = execute_probe_call(probe->number, probe->arguments);
    }
    execute_probe_call(SYS_exit, none);
    return 0;
}

int64_t execute_probe(uint64_t number, const uint64_t arguments[6])
{
    struct probe probe = {number, arguments, EXECUTE_PROBE_UNKNOWN};
    run_in_child(run_probe, &probe, true);
    return probe.result;
}

/* --- execute and wait --- */

struct program {
    const char *path;
    char *const *arguments;
    char *const *environment;
    const int *inherited;
    volatile bool failed;
};

static int run_program(void *context)
{
    struct program *program = context;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < 2; i++)
        if (program->inherited[i] >= 0)
            fcntl(program->inherited[i], F_SETFD, 0);
    execve(program->path, program->arguments, program->environment);
    program->failed = true;
    syscall(SYS_exit, 0);
    return 0;
}

int execute_and_wait(const char *path, char *const *arguments, char *const *environment,
                     const int inherited[2])
{
    struct program program = {path, arguments, environment, inherited, false};
    int status = run_in_child(run_program, &program, false);
    return program.failed ? -1 : status;
}
