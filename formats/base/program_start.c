#define _GNU_SOURCE /* posix_spawn_file_actions_addclosefrom_np */
#include "formats/base/program_start.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <unistd.h>

extern char **environ;

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
static int set_streams(posix_spawn_file_actions_t *actions, const int streams[3])
{
    int result = 0;
    for (int i = STDIN_FILENO; i <= STDERR_FILENO && result == 0; i++)
        result = streams[i] < 0
                     ? posix_spawn_file_actions_addopen(actions, i, "/dev/null", O_RDONLY, 0)
                     : posix_spawn_file_actions_adddup2(actions, streams[i], i);
    if (result == 0)
        result = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
    return result;
}

int program_start(pid_t *process, char *const arguments[], char *const environment[],
                  const int streams[3])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int result = posix_spawn_file_actions_init(&actions);
    if (result != 0)
        return result;
    result = posix_spawnattr_init(&attributes);
    if (result == 0) {
        set_signals(&attributes);
        result = set_streams(&actions, streams);
        if (result == 0)
            result = posix_spawnp(process, arguments[0], &actions, &attributes, arguments,
                                  environment ? environment : environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return result;
}
