#define _GNU_SOURCE /* AT_EMPTY_PATH, unshare */
#include "capture/exec/kernel/process_thread.h"

#include "capture/exec/dispatch/trampoline.h"
#include "capture/exec/kernel/execute_probe.h"
#include "capture/exec/memory/program_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A call of execve or execveat. */
struct calling {
    uint64_t number;
    uint64_t arguments[6]; /* for the kernel: with the program's file instead of its
                              /proc/self/exe */
    bool at;
    char path[PROCESS_PATH_BYTES]; /* as the kernel names the program's file */
    struct process_execution execution;
};

static uint64_t *path_argument(struct calling *calling)
{
    return &calling->arguments[calling->at ? 1 : 0];
}

static uint64_t argument_list(const struct calling *calling)
{
    return calling->arguments[calling->at ? 2 : 1];
}

static char *const *variables(const struct calling *calling)
{
    return (char *const *)(uintptr_t)calling->arguments[calling->at ? 3 : 2];
}

/* Relative to a folder's descriptor the kernel's name of a program is /dev/fd/FOLDER/PATH
 * (AT_EXECFN). False: the path cannot be read. */
static bool find_path(struct process *process, struct calling *calling)
{
    char path[PROCESS_PATH_BYTES];
    uint64_t given = *path_argument(calling);
    const char *own = system_calls_path(process->calls);
    if (given == (uintptr_t)own)
        snprintf(path, sizeof path, "%s", own);
    else if (program_read_string(process->space, path, given, sizeof path) != 0)
        return false;
    int folder = calling->at ? (int)calling->arguments[0] : AT_FDCWD;
    int length = folder == AT_FDCWD || path[0] == '/'
                     ? snprintf(calling->path, sizeof calling->path, "%s", path)
                     : snprintf(calling->path, sizeof calling->path, "/dev/fd/%d%s%s", folder,
                                path[0] ? "/" : "", path);
    return length > 0 && (size_t)length < sizeof calling->path;
}

static int open_file(const struct calling *calling)
{
    const int how = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    char path[32];
    if (!calling->at)
        return open((const char *)(uintptr_t)calling->arguments[0], how);
    int folder = (int)calling->arguments[0];
    const char *name = (const char *)(uintptr_t)calling->arguments[1];
    if (*name)
        return openat(folder, name, how);
    snprintf(path, sizeof path, "/proc/self/fd/%d", folder);
    return open(path, how);
}

/* Whether the call will probably succeed; if not, the kernel makes it. */
static bool will_succeed(const struct calling *calling)
{
    int64_t result = execute_probe(calling->number, calling->arguments);
    if (result != EXECUTE_PROBE_UNKNOWN)
        return result == 0;
    int file = open_file(calling);
    bool allowed = file >= 0 && faccessat(file, "", X_OK, AT_EACCESS | AT_EMPTY_PATH) ==
                                    0; /* a necessary condition */
    if (file >= 0)
        close(file);
    return allowed;
}

/* The leading arguments and the program's arguments; like the kernel, adds an empty one if it has
 * none. NULL: no memory. */
static char **all_arguments(struct process *process, uint64_t given, const char **leading,
                            size_t leading_count)
{
    size_t count = 0;
    uint64_t one = given;
    while (one && program_read(process->space, &one, given + 8 * count, sizeof one) == 0)
        count += one != 0;
    char **all = calloc(leading_count + count + 2, sizeof *all);
    for (size_t i = 0; all && i < leading_count; i++)
        all[i] = (char *)leading[i];
    if (all && count == 0)
        all[leading_count] = (char *)"";
    else if (all && program_read(process->space, all + leading_count, given, count * 8) != 0)
        all[leading_count] = NULL;
    return all;
}

/* Prepares to execute the program translated, if `execute` wants it and `check` allows it. Returns
 * the arguments, to be freed; NULL: execute the program untranslated. */
static char **prepare_translated(struct process *process, struct calling *calling)
{
    const struct process_operations *operations = process->operations;
    void *context = process->settings.context;
    struct process_execution *execution = &calling->execution;
    const char *leading[PROCESS_LEADING];
    unshare(CLONE_FILES); /* as execve(2) does: a parent must not see the descriptors opened here */
    execution->file = open_file(calling);
    execution->failure = errno;
    size_t count = operations->execute(context, execution, leading);
    if (count == 0)
        return NULL;
    char **all = all_arguments(process, argument_list(calling), leading, count);
    if (all && operations->check(context, execution, all, variables(calling)))
        return all;
    free(all);
    return NULL;
}

/* The program's limits may be lower than those of bustap, and cannot be raised again. */
static int64_t execute_untranslated(struct process *process, const struct calling *calling,
                                    bool succeeds)
{
    if (succeeds)
        system_calls_execute(process->calls, true);
    int64_t result =
        exec_system_call(&process->thread->interrupt, calling->number, calling->arguments);
    if (succeeds)
        system_calls_execute(process->calls, false);
    return result;
}

static int64_t execute_translated(struct process *process, struct calling *calling,
                                  char **translated)
{
    const uint64_t arguments[6] = {(uintptr_t)PROCESS_OWN_PATH, (uintptr_t)translated,
                                   (uintptr_t)variables(calling)};
    int64_t result = exec_system_call(&process->thread->interrupt, SYS_execve, arguments);
    if (result == EXEC_SYSTEM_CALL_AGAIN)
        return result;
    calling->execution.failure = (int)-result;
    process->operations->execute_failed(process->settings.context, &calling->execution);
    return execute_untranslated(process, calling, true);
}

/* A call that fails is not reported: shells try each folder of PATH. signals_retire(): the signal
 * that interrupts our threads would end the other program. */
static int64_t execute(struct process *process, struct calling *calling)
{
    const struct process_operations *operations = process->operations;
    if (!process_thread_hold(process))
        return EXEC_SYSTEM_CALL_AGAIN;
    executor_flush(process->executor);
    bool succeeds = find_path(process, calling) && will_succeed(calling);
    if (succeeds && operations->executing && !process->shares)
        operations->executing(process->settings.context, calling->path);
    char **translated =
        succeeds && operations->execute ? prepare_translated(process, calling) : NULL;
    signals_retire(process->signals);
    int64_t result = translated ? execute_translated(process, calling, translated)
                                : execute_untranslated(process, calling, succeeds);
    free(translated);
    if (calling->execution.file >= 0)
        close(calling->execution.file);
    return result;
}

void process_execute(struct process *process, struct system_call *call)
{
    struct calling calling = {.number = call->number, .at = call->number == SYS_execveat};
    calling.execution =
        (struct process_execution){.path = calling.path, .file = -1, .is_child = process->shares};
    memcpy(calling.arguments, call->arguments, sizeof calling.arguments);
    const char *own = system_calls_own_path(process->calls, *path_argument(&calling));
    if (own)
        *path_argument(&calling) = (uint64_t)(uintptr_t)own;
    call->result = execute(process, &calling);
    if (!process->shares && process_thread_self(process)->host)
        signals_block_others();
    process_thread_resume(process);
}
