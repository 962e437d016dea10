#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "tests/support/exec_child.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMPUTING_SECONDS 300
#define WAITING_SECONDS   3000

/* What hangs ends: by the time it has computed, or long after anything that waits for processors
 * that others use has got them. */
static void limit_time(void)
{
    const struct rlimit limit = {COMPUTING_SECONDS, COMPUTING_SECONDS + 1};
    setrlimit(RLIMIT_CPU, &limit);
    alarm(WAITING_SECONDS);
}

void exec_child_run(struct exec_child *child, void (*run)(void *context), void *context)
{
    int pipes[2], status = 0;
    size_t size = 0;
    ssize_t got;
    child->output[0] = 0;
    child->status = -1;
    if (pipe(pipes) != 0)
        return;
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        dup2(pipes[1], 1);
        close(pipes[0]);
        close(pipes[1]);
        limit_time();
        run(context);
        _exit(0);
    }
    close(pipes[1]);
    while ((got = read(pipes[0], child->output + size, EXEC_CHILD_OUTPUT - 1 - size)) > 0)
        size += (size_t)got;
    close(pipes[0]);
    waitpid(process, &status, 0);
    child->output[size] = 0;
    child->status = status & ~0x80;
}

struct native {
    const char *const *arguments, *const *environment;
};

static void run_native(void *context)
{
    const struct native *native = context;
    execve(native->arguments[0], (char *const *)(uintptr_t)native->arguments,
           (char *const *)(uintptr_t)native->environment);
    _exit(98);
}

void exec_child_native(struct exec_child *child, const char *const *arguments,
                       const char *const *environment)
{
    struct native native = {arguments, environment};
    exec_child_run(child, run_native, &native);
}

void *exec_child_share(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

bool exec_child_compile(const char *program, const char *source, const char *options)
{
    char command[1024];
    snprintf(command, sizeof command, "cc -w %s -o %s %s 2>/dev/null", options, program, source);
    return system(command) == 0;
}
