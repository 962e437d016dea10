#define _GNU_SOURCE /* memfd_create, MAP_ANONYMOUS */
#include "tests/support/exec_child.h"

#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COMPUTING_SECONDS 300
#define WAITING_SECONDS   500 /* of any kind: all tests together have 600 */
#define STACK_BYTES       ((rlim_t)8 << 20)
#define NEVER_BEGAN       (-2)
#define LOOK_NS           1000000L

static void limit(int resource, rlim_t most)
{
    struct rlimit now;
    if (getrlimit(resource, &now) != 0)
        return;
    now.rlim_cur = most < now.rlim_max ? most : now.rlim_max;
    setrlimit(resource, &now);
}

/* Makes every child's environment the same, whatever signals and limits it inherits: a process
 * that ignores SIGTERM is not ended by it, and a stack without a limit takes all memory. */
static void begin_afresh(void)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &usual, NULL); /* refused for some */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    limit(RLIMIT_STACK, STACK_BYTES);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, COMPUTING_SECONDS);
}

static void print_file(const char *path)
{
    char line[256];
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "State", 5) == 0 || strncmp(line, "Sig", 3) == 0 ||
            strncmp(line, "ShdPnd", 6) == 0 || strncmp(line, "Name", 4) == 0 || line[0] < 'A')
            printf("    %s", line);
    if (file)
        fclose(file);
}

static void print_threads(const char *process)
{
    static const char *const files[] = {"status", "syscall"};
    char path[512];
    snprintf(path, sizeof path, "/proc/%s/task", process);
    DIR *threads = opendir(path);
    for (const struct dirent *entry; threads && (entry = readdir(threads));)
        for (size_t i = 0; entry->d_name[0] != '.' && i < 2; i++) {
            snprintf(path, sizeof path, "/proc/%s/task/%.16s/%s", process, entry->d_name, files[i]);
            print_file(path);
        }
    if (threads)
        closedir(threads);
}

/* Prints the states of the group's processes, to show why they do not end. */
static void print_group(pid_t group)
{
    DIR *processes = opendir("/proc");
    printf("does not end:\n");
    for (const struct dirent *entry; processes && (entry = readdir(processes));)
        if (getpgid((pid_t)atoi(entry->d_name)) == group && atoi(entry->d_name) > 0) {
            printf("  process %s\n", entry->d_name);
            print_threads(entry->d_name);
        }
    if (processes)
        closedir(processes);
    fflush(stdout);
}

static int wait_for(pid_t process)
{
    const struct timespec look = {0, LOOK_NS};
    int status = -1;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const time_t end = now.tv_sec + WAITING_SECONDS;
    while (waitpid(process, &status, WNOHANG) == 0) {
        nanosleep(&look, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec < end)
            continue;
        print_group(process);
        kill(-process, SIGKILL);
        waitpid(process, &status, 0);
        break;
    }
    kill(-process, SIGKILL); /* its own children that it has left */
    return status;
}

void exec_child_run(struct exec_child *child, void (*run)(void *context), void *context)
{
    child->output[0] = 0;
    child->status = -1;
    int file = memfd_create("output", 0);
    if (file < 0)
        return;
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* out of reach of the signal that ends the tests */
        dup2(file, 1);
        close(file);
        begin_afresh();
        run(context);
        _exit(0);
    }
    if (process > 0) {
        setpgid(process, process);
        child->status = wait_for(process) & ~0x80;
    }
    ssize_t size = pread(file, child->output, EXEC_CHILD_OUTPUT - 1, 0);
    child->output[size > 0 ? size : 0] = 0;
    close(file);
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
    struct native native = {.arguments = arguments, .environment = environment};
    exec_child_run(child, run_native, &native);
    if (child->status < 0)
        child->status = NEVER_BEGAN; /* impossible as a child's wait status */
}

void *exec_child_share(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

bool exec_child_compile(const char *program, const char *source, const char *options)
{
    char command[1024];
    snprintf(command, sizeof command, "cc -w -o '%s' %s %s 2>/dev/null", program, source, options);
    return system(command) == 0;
}
