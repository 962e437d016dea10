#define _DEFAULT_SOURCE /* setpriority */
#include "capture/file_command.h"

#include "formats/base/clock.h"
#include "formats/base/program_start.h"
#include "formats/base/program_words.h"
#include "formats/base/thread.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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
    struct program_words command;              /* the file follows the words */
    char variables[VARIABLES][VARIABLE_BYTES]; /* the thread's alone */
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

/* 0 or BT_USAGE. */
static int split(struct program_words *words, const char *command, struct bt_error *error)
{
    if (strlen(command) >= FILE_COMMAND_BYTES)
        return bt_fail(error, BT_USAGE, "the command is too long: at most %u bytes",
                       FILE_COMMAND_BYTES - 1);
    return program_words_split(words, command, error);
}

int file_command_check(const char *command, struct bt_error *error)
{
    struct program_words words;
    int result = split(&words, command, error);
    return result < 0 ? result : program_words_find(&words, error);
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

/* Starts the command for a file. Returns an errno. */
static int start(struct file_command *command, const struct file_command_file *file, pid_t *process)
{
    static const int streams[3] = {-1, STDERR_FILENO, STDERR_FILENO};
    struct program_words *words = &command->command;
    char **environment = make_environment(command, file);
    if (!environment)
        return ENOMEM;
    words->words[words->count] = command->variables[0] + strlen("BUSTAP_FILE=");
    words->words[words->count + 1] = NULL;
    int result = program_start(process, words->words, environment, streams);
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
    const char *name = command->command.words[0];
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
    if (split(&command->command, settings->command, error) < 0) {
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
               command->command.words[0], file->path);
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
    const char *name = command->command.words[0];
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
