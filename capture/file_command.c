#define _GNU_SOURCE /* posix_spawn_file_actions_addclosefrom_np */
#include "capture/file_command.h"

#include "formats/base/clock.h"
#include "formats/base/program_path.h"
#include "formats/base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_NS        20000000 /* interval of checks whether the command has ended */
#define VARIABLES      5u
#define VARIABLE_BYTES 4200u /* name, = and the longest path */
#define REPORT_BYTES   480u
#define LOWEST         19 /* priority: nice(1) */

extern char **environ;

struct waiting_command {
    struct waiting_command *next;
    struct file_command_file file; /* path: the bytes below */
    char path[];
};

struct file_command {
    struct file_command_settings settings;
    char text[FILE_COMMAND_BYTES];               /* words, each with its NUL */
    char *arguments[FILE_COMMAND_BYTES / 2 + 2]; /* the last word is the file */
    size_t words;                                /* without the file */
    char variables[VARIABLES][VARIABLE_BYTES];   /* the thread's alone */
    pthread_t thread;

    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t changed;
    struct waiting_command *first, **last; /* the first is being processed */
    bool running;                          /* the command is, for the first */
    bool closed;
    struct file_command_counts counts;
};

__attribute__((format(printf, 2, 3))) static void report(const struct file_command *command,
                                                         const char *format, ...)
{
    char sentence[REPORT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    command->settings.report(command->settings.context, sentence);
}

/* --- starting the command -------------------------------------------------------------------- */

/* Splits text at blanks. Returns the number of words. */
static size_t split(char *text, char **words)
{
    size_t count = 0;
    for (char *rest = text, *word; (word = strtok_r(rest, " \t", &rest));)
        words[count++] = word;
    words[count] = NULL;
    return count;
}

int file_command_check(const char *command, struct bt_error *error)
{
    char text[FILE_COMMAND_BYTES];
    char *words[FILE_COMMAND_BYTES / 2 + 2];
    char path[VARIABLE_BYTES];
    if (strlen(command) >= sizeof text)
        return bt_fail(error, BT_USAGE, "the command is too long: at most %u bytes",
                       FILE_COMMAND_BYTES - 1);
    strcpy(text, command);
    if (split(text, words) == 0)
        return bt_fail(error, BT_USAGE, "the command is empty");
    if (strchr(words[0], '/'))
        return program_path_is_program(words[0])
                   ? 0
                   : bt_fail(error, BT_USAGE, "%.200s is not an executable program", words[0]);
    if (program_path_find(path, sizeof path, words[0]))
        return 0;
    return bt_fail(error, BT_USAGE,
                   "there is no program %.200s in the folders of PATH; a command has no shell: put "
                   "more than a program and its arguments into a script",
                   words[0]);
}

/* Whether an environment variable is one of ours. */
static bool is_ours(const struct file_command *command, const char *variable)
{
    for (size_t i = 0; i < VARIABLES; i++) {
        size_t name = strcspn(command->variables[i], "=") + 1;
        if (strncmp(variable, command->variables[i], name) == 0)
            return true;
    }
    return false;
}

/* The environment of the command; the caller frees the array. NULL: no memory. */
static char **make_environment(struct file_command *command, const struct file_command_file *file)
{
    char(*out)[VARIABLE_BYTES] = command->variables;
    size_t count = 0;
    size_t used = 0;
    snprintf(out[0], VARIABLE_BYTES, "BUSTAP_FILE=%s", file->path);
    snprintf(out[1], VARIABLE_BYTES, "BUSTAP_PREFIX=%.*s", (int)file->prefix_bytes, file->path);
    snprintf(out[2], VARIABLE_BYTES, "BUSTAP_RECORDS=%" PRIu64, file->records);
    snprintf(out[3], VARIABLE_BYTES, "BUSTAP_LOST=%" PRIu64, file->lost);
    snprintf(out[4], VARIABLE_BYTES, "BUSTAP_REASON=%s", file->reason);
    while (environ[count])
        count++;
    char **variables = malloc((count + VARIABLES + 1) * sizeof *variables);
    if (!variables)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!is_ours(command, environ[i]))
            variables[used++] = environ[i];
    for (size_t i = 0; i < VARIABLES; i++)
        variables[used++] = out[i];
    variables[used] = NULL;
    return variables;
}

/* Signals as a program expects them: none is blocked, none that bustap ignores is ignored. */
static void set_signals(posix_spawnattr_t *attributes)
{
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(attributes, &signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGXFSZ);
    sigaddset(&signals, SIGCHLD);
    posix_spawnattr_setsigdefault(attributes, &signals);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                             POSIX_SPAWN_SETPGROUP);
}

/* Returns an errno. */
static int set_streams(posix_spawn_file_actions_t *actions)
{
    int result = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (result == 0)
        result = posix_spawn_file_actions_adddup2(actions, STDERR_FILENO, STDOUT_FILENO);
    if (result == 0)
        result = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
    return result;
}

/* Starts the command for a file. Returns an errno. */
static int start(struct file_command *command, const struct file_command_file *file, pid_t *process)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char **environment = make_environment(command, file);
    if (!environment)
        return ENOMEM;
    command->arguments[command->words] = command->variables[0] + strlen("BUSTAP_FILE=");
    command->arguments[command->words + 1] = NULL;
    int result = posix_spawn_file_actions_init(&actions);
    if (result == 0) {
        result = posix_spawnattr_init(&attributes);
        if (result == 0) {
            set_signals(&attributes);
            result = set_streams(&actions);
            if (result == 0)
                result = posix_spawnp(process, command->arguments[0], &actions, &attributes,
                                      command->arguments, environment);
            posix_spawnattr_destroy(&attributes);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    free(environment);
    if (result == 0)
        (void)setpriority(PRIO_PROCESS, (id_t)*process, LOWEST); /* it may have ended */
    return result;
}

/* --- the thread ------------------------------------------------------------------------------ */

/* Waits for a change, for at most ns; call with the mutex. */
static void wait_for_change(struct file_command *command, int64_t ns)
{
    int64_t until = clock_monotonic_ns() + ns;
    struct timespec time = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
    pthread_cond_timedwait(&command->changed, &command->mutex, &time);
}

/* Waits until the command has ended. False: the wait was ended. */
static bool wait_for_end(struct file_command *command, pid_t process, int *status)
{
    bool closed = false;
    pid_t ended;
    while ((ended = waitpid(process, status, WNOHANG)) == 0 && !closed) {
        pthread_mutex_lock(&command->mutex);
        closed = command->closed;
        if (!closed)
            wait_for_change(command, LOOK_NS);
        pthread_mutex_unlock(&command->mutex);
    }
    if (ended < 0)
        *status = 0; /* it has ended; its status is lost where SIGCHLD is ignored */
    return ended != 0;
}

/* Reports a failure if it is the first. error: an errno of the start, or 0. */
static void judge(struct file_command *command, const char *path, int error, int status)
{
    const char *name = command->arguments[0];
    if (error == 0 && status == 0)
        return;
    pthread_mutex_lock(&command->mutex);
    bool first = command->counts.failed++ == 0;
    pthread_mutex_unlock(&command->mutex);
    if (!first)
        return;
    static const char rest[] = "; later failures are only counted";
    if (error)
        report(command, "the command %.60s cannot be run: %s%s", name, strerror(error), rest);
    else if (WIFSIGNALED(status))
        report(command, "the command %.60s was killed by signal %d; its file is %.300s%s", name,
               WTERMSIG(status), path, rest);
    else
        report(command, "the command %.60s ended with exit status %d; its file is %.300s%s", name,
               WEXITSTATUS(status), path, rest);
}

/* Runs the command for a file. False: it still runs. */
static bool process(struct file_command *command, const struct file_command_file *file)
{
    pid_t child;
    int status = 0;
    int error = start(command, file, &child);
    if (error == 0 && !wait_for_end(command, child, &status))
        return false;
    judge(command, file->path, error, status);
    return true;
}

/* The first file that waits; call with the mutex. */
static void remove_first(struct file_command *command)
{
    struct waiting_command *first = command->first;
    command->first = first->next;
    if (!command->first)
        command->last = &command->first;
    command->counts.waiting--;
    free(first);
}

static void *run(void *context)
{
    struct file_command *command = context;
    thread_set_name("file command");
    pthread_mutex_lock(&command->mutex);
    while (!command->closed) {
        const struct waiting_command *first = command->first;
        if (!first) {
            pthread_cond_wait(&command->changed, &command->mutex);
            continue;
        }
        command->running = true;
        pthread_mutex_unlock(&command->mutex);
        bool ended = process(command, &first->file);
        pthread_mutex_lock(&command->mutex);
        if (!ended)
            break;
        command->running = false;
        command->counts.run++;
        remove_first(command);
        pthread_cond_broadcast(&command->changed);
    }
    pthread_mutex_unlock(&command->mutex);
    return NULL;
}

/* --- for callers ----------------------------------------------------------------------------- */

struct file_command *file_command_new(const struct file_command_settings *settings,
                                      struct bt_error *error)
{
    struct file_command *command = calloc(1, sizeof *command);
    if (!command) {
        bt_fail(error, BT_MEMORY, "no memory for a command");
        return NULL;
    }
    command->settings = *settings;
    command->last = &command->first;
    snprintf(command->text, sizeof command->text, "%s", settings->command);
    command->words = split(command->text, command->arguments);
    if (command->words == 0 || strlen(settings->command) >= sizeof command->text) {
        bt_fail(error, BT_USAGE, "the command is empty or too long");
        free(command);
        return NULL;
    }
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&command->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&command->mutex, NULL);
    if (pthread_create(&command->thread, NULL, run, command) == 0)
        return command;
    bt_fail(error, BT_MEMORY, "cannot start a thread for commands");
    pthread_cond_destroy(&command->changed);
    pthread_mutex_destroy(&command->mutex);
    free(command);
    return NULL;
}

void file_command_put(struct file_command *command, const struct file_command_file *file)
{
    size_t size = strlen(file->path) + 1;
    struct waiting_command *added = malloc(sizeof *added + size);
    if (added) {
        *added = (struct waiting_command){.file = *file};
        memcpy(added->path, file->path, size);
        added->file.path = added->path;
    }
    pthread_mutex_lock(&command->mutex);
    bool skipped = !added || command->counts.waiting >= FILE_COMMAND_WAITING_MAX;
    bool first = skipped && command->counts.skipped++ == 0;
    if (!skipped) {
        *command->last = added;
        command->last = &added->next;
        command->counts.waiting++;
        pthread_cond_broadcast(&command->changed);
    }
    pthread_mutex_unlock(&command->mutex);
    if (skipped)
        free(added);
    if (first)
        report(command,
               "the command %.60s is too slow: it is not run for %.300s, and the number of such "
               "files is counted",
               command->arguments[0], file->path);
}

struct file_command_counts file_command_counts(struct file_command *command)
{
    pthread_mutex_lock(&command->mutex);
    struct file_command_counts counts = command->counts;
    pthread_mutex_unlock(&command->mutex);
    return counts;
}

bool file_command_wait(struct file_command *command, int timeout_ms)
{
    int64_t until = clock_monotonic_ns() + (int64_t)timeout_ms * 1000000;
    pthread_mutex_lock(&command->mutex);
    for (int64_t left; command->first && (left = until - clock_monotonic_ns()) > 0;)
        wait_for_change(command, left);
    bool none = !command->first;
    pthread_mutex_unlock(&command->mutex);
    return none;
}

/* Reports what is left, and what has failed, after the thread's end. */
static void report_end(struct file_command *command)
{
    const struct file_command_counts *counts = &command->counts;
    const char *name = command->arguments[0];
    const struct waiting_command *next = command->first;
    if (counts->failed > 1)
        report(command, "the command %.60s failed for %" PRIu64 " of %" PRIu64 " files", name,
               counts->failed, counts->run);
    if (command->running)
        report(command, "the command %.60s still runs for %.300s, and is left alone", name,
               next->path);
    next = command->running ? next->next : next;
    uint64_t missed = counts->waiting - command->running + counts->skipped;
    if (missed > 0)
        report(command, "the command %.60s was not run for %" PRIu64 " %s%s%.300s", name, missed,
               missed == 1 ? "file" : "files", next ? ", from this one on: " : "",
               next ? next->path : "");
}

void file_command_free(struct file_command *command)
{
    if (!command)
        return;
    pthread_mutex_lock(&command->mutex);
    command->closed = true;
    pthread_cond_broadcast(&command->changed);
    pthread_mutex_unlock(&command->mutex);
    pthread_join(command->thread, NULL);
    report_end(command);
    while (command->first)
        remove_first(command);
    pthread_cond_destroy(&command->changed);
    pthread_mutex_destroy(&command->mutex);
    free(command);
}
