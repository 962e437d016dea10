#include "tools/plot/gnuplot.h"

#include "formats/base/file_io.h"
#include "formats/base/program_path.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Unnamed files for gnuplot's standard streams; -1: not open. */
struct streams {
    int file[3];
};

static int missing(struct bt_error *error)
{
    return bt_fail(error, BT_IO,
                   "pictures are drawn by gnuplot, which is not on the PATH: install the package "
                   "gnuplot-nox (or gnuplot), or have the data printed instead");
}

int gnuplot_find(struct bt_error *error)
{
    char file[4096];
    return program_path_find(file, sizeof file, "gnuplot") ? 0 : missing(error);
}

static int make_stream(int *file, struct bt_error *error)
{
    char path[4096];
    const char *folder = getenv("TMPDIR");
    if (!folder || !*folder)
        folder = "/tmp";
    if (snprintf(path, sizeof path, "%s/bustap-plot.XXXXXX", folder) >= (int)sizeof path)
        return bt_fail(error, BT_IO, "the path in TMPDIR is too long");
    *file = mkstemp(path);
    if (*file < 0)
        return bt_fail_errno(error, "cannot make a temporary file in %s", folder);
    unlink(path);
    return fcntl(*file, F_SETFD, FD_CLOEXEC) < 0 ? bt_fail_errno(error, "cannot use a file") : 0;
}

static int put_script(int file, const char *script, size_t size, struct bt_error *error)
{
    if (file_write(file, script, size, NULL) < 0)
        return bt_fail_errno(error, "cannot write a temporary file");
    return lseek(file, 0, SEEK_SET) < 0 ? bt_fail_errno(error, "cannot use a temporary file") : 0;
}

/* Starts gnuplot with default signal handling. Returns an errno. */
static int spawn(pid_t *process, const struct streams *streams)
{
    char program[] = "gnuplot";
    char defaults[] = "--default-settings"; /* ignores start-up files */
    char *arguments[] = {program, defaults, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t signals;
    int result = posix_spawn_file_actions_init(&actions);
    if (result != 0)
        return result;
    result = posix_spawnattr_init(&attributes);
    if (result == 0) {
        sigemptyset(&signals);
        sigaddset(&signals, SIGPIPE);
        sigaddset(&signals, SIGXFSZ);
        posix_spawnattr_setsigdefault(&attributes, &signals);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
        for (int i = 0; i < 3 && result == 0; i++)
            result = posix_spawn_file_actions_adddup2(&actions, streams->file[i], i);
        if (result == 0)
            result = posix_spawnp(process, program, &actions, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return result;
}

/* gnuplot's error message: its last line with more than a position in the script. */
static void read_complaint(int file, char complaint[200])
{
    char text[4096];
    ssize_t size = pread(file, text, sizeof text - 1, 0);
    strcpy(complaint, "it did not say why");
    text[size > 0 ? size : 0] = 0;
    for (char *rest = text, *line; (line = strtok_r(rest, "\r\n", &rest));) {
        line += strspn(line, " ^\t");
        if (*line)
            snprintf(complaint, 200, "%.199s", line);
    }
}

/* Runs gnuplot until it exits. */
static int run(const struct streams *streams, struct bt_error *error)
{
    pid_t process;
    int status;
    int result = spawn(&process, streams);
    if (result == ENOENT)
        return missing(error);
    if (result != 0) {
        errno = result;
        return bt_fail_errno(error, "cannot run gnuplot");
    }
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR)
            return bt_fail_errno(error, "cannot wait for gnuplot");
    if (WIFSIGNALED(status))
        return bt_fail(error, BT_IO, "gnuplot was ended by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) == 0)
        return 0;
    char complaint[200];
    read_complaint(streams->file[2], complaint);
    return bt_fail(error, BT_IO, "gnuplot failed with status %d: %s", WEXITSTATUS(status),
                   complaint);
}

static int read_picture(int file, char **picture, size_t *picture_size, struct bt_error *error)
{
    off_t size = lseek(file, 0, SEEK_END);
    if (size < 0)
        return bt_fail_errno(error, "cannot use a temporary file");
    *picture = calloc(1, (size_t)size + 1); /* terminated with 0, because it may be text */
    if (!*picture)
        return bt_fail(error, BT_MEMORY, "no memory for a picture");
    *picture_size = 0;
    while ((off_t)*picture_size < size) {
        ssize_t got = pread(file, *picture + *picture_size, (size_t)size - *picture_size,
                            (off_t)*picture_size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            free(*picture);
            return bt_fail_errno(error, "cannot read a temporary file");
        }
        *picture_size += (size_t)got;
    }
    return 0;
}

int gnuplot_run(const char *script, size_t script_size, char **picture, size_t *picture_size,
                struct bt_error *error)
{
    struct streams streams = {{-1, -1, -1}};
    int result = 0;
    for (int i = 0; i < 3 && result == 0; i++)
        result = make_stream(&streams.file[i], error);
    if (result == 0)
        result = put_script(streams.file[0], script, script_size, error);
    if (result == 0)
        result = run(&streams, error);
    if (result == 0)
        result = read_picture(streams.file[1], picture, picture_size, error);
    for (int i = 0; i < 3; i++)
        if (streams.file[i] >= 0)
            close(streams.file[i]);
    return result;
}
