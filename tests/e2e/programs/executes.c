#define _GNU_SOURCE /* execveat, memfd_create, vfork */
/* Calls of execve(2) and its relatives: those that fail, one for each reason, and those that
 * succeed, one for each way to name a program. Creates files in the current folder, which must be
 * empty.
 *
 * usage: executes fail | WAY, one of those in ways[] | print WORD */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HUGE_BYTES ((size_t)3 << 20)

extern char **environ;

static char own[4096]; /* path of this program */

static void make(const char *name, const void *bytes, size_t size, mode_t mode)
{
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0700);
    if (write(file, bytes, size) != (ssize_t)size || fchmod(file, mode) != 0 || close(file) != 0)
        perror(name);
}

static void make_text(const char *name, const char *text)
{
    make(name, text, strlen(text), 0755);
}

/* Copies of this program with a missing dynamic loader, or only its first bytes. */
static void make_damaged(void)
{
    struct stat status;
    int file = open(own, O_RDONLY);
    fstat(file, &status);
    size_t size = (size_t)status.st_size;
    char *bytes = malloc(size);
    if (read(file, bytes, size) != (ssize_t)size)
        perror("read");
    close(file);
    make("short", bytes, 100, 0755);
    bytes[18] = 3; /* e_machine: a 32-bit machine */
    make("machine", bytes, size, 0755);
    bytes[18] = 62;
    char *loader = memmem(bytes, size, "/ld-linux", 9);
    if (loader)
        loader[4] = '_';
    make("orphan", bytes, size, 0755);
    free(bytes);
}

static void fill_folder(void)
{
    make_text("plain", "not a program\n");
    make_text("empty", "");
    make_text("lost", "#!/nonexistent/shell\n");
    make_text("folder_script", "#!/\n");
    make_text("circle", "#!./circle\n");
    make_text("script", "#!/bin/sh\necho script $0 $*\n");
    make("forbidden", "#!/bin/sh\n", 10, 0644);
    make_damaged();
    mkdir("folder", 0755);
    if (symlink("loop", "loop") != 0)
        perror("symlink");
}

static void show(const char *what, long result)
{
    printf("%s: %ld %s\n", what, result, result < 0 ? strerrorname_np(errno) : "");
    fflush(stdout);
}

static char *words[] = {"words", "one", NULL};

static void try_path(const char *path)
{
    char what[64];
    show(path, execve(path, words, environ));
    snprintf(what, sizeof what, "vfork: %s", path);
    volatile int code = 0;
    pid_t child = vfork();
    if (child == 0) {
        execve(path, words, environ);
        code = errno;
        _exit(3);
    }
    int status;
    waitpid(child, &status, 0);
    errno = code;
    show(what, -1);
    snprintf(what, sizeof what, "spawn: %s", path);
    errno = posix_spawn(&child, path, NULL, NULL, words, environ);
    show(what, -1);
}

/* Uses the bare system call: the C library checks some arguments. */
static void try_call(const char *what, const void *path, const void *arguments,
                     const void *environment)
{
    show(what, syscall(SYS_execve, path, arguments, environment));
}

static void try_arguments(void)
{
    char *many[40], *huge = malloc(HUGE_BYTES);
    char *broken[] = {"x", (char *)16, NULL};
    memset(huge, 'x', HUGE_BYTES);
    huge[HUGE_BYTES - 1] = '\0';
    char *one[] = {"true", huge, NULL};
    try_call("one long argument", "/bin/true", one, environ);
    for (int i = 0; i < 39; i++)
        many[i] = huge + HUGE_BYTES - 130000;
    many[39] = NULL;
    try_call("long arguments", "/bin/true", many, environ);
    try_call("a long environment", "/bin/true", words, many);
    try_call("no such arguments", "/bin/true", (void *)16, environ);
    try_call("a missing argument", "/bin/true", broken, environ);
    try_call("no such environment", "/bin/true", words, (void *)24);
    try_call("no path", (void *)16, words, environ);
    free(huge);
}

static void try_at(const char *what, int folder, const char *path, int flags)
{
    show(what, syscall(SYS_execveat, folder, path, words, environ, flags));
}

static void try_descriptors(void)
{
    int folder = open("folder", O_RDONLY | O_CLOEXEC),
        script = open("script", O_RDONLY | O_CLOEXEC);
    try_at("no such flag", AT_FDCWD, "/bin/true", 0x40000);
    try_at("no such descriptor", 77, "true", 0);
    try_at("a folder", folder, "", AT_EMPTY_PATH);
    try_at("nothing in a folder", folder, "true", 0);
    try_at("an empty path", script, "", 0);
    try_at("a link", AT_FDCWD, "loop", AT_SYMLINK_NOFOLLOW);
    try_at("a script that is closed", script, "", AT_EMPTY_PATH);
    close(folder);
    close(script);
}

static void fail(void)
{
    static const char *const paths[] = {"/nonexistent/program",
                                        "",
                                        "nothing",
                                        "plain",
                                        "empty",
                                        "lost",
                                        "folder_script",
                                        "circle",
                                        "forbidden",
                                        "short",
                                        "machine",
                                        "orphan",
                                        "folder",
                                        "loop",
                                        "script/x",
                                        "busy"};
    struct rlimit limit = {64 << 10, RLIM_INFINITY};
    int busy = open("busy", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    if (write(busy, "#!/bin/sh\n", 10) != 10)
        perror("busy");
    signal(SIGCHLD, SIG_DFL);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        try_path(paths[i]);
    char *path = malloc(5001);
    memset(path, 'x', 5000);
    path[5000] = '\0';
    show("a long path", execve(path, words, environ));
    free(path);
    try_arguments();
    try_descriptors();
    getrlimit(RLIMIT_NOFILE, &limit);
    printf("descriptors: %d\n", dup(0) < 16);
    int status;
    show("no child is left", waitpid(-1, &status, __WALL));
}

/* --- ways to succeed --- */

static char *print_words[] = {"print", "print", "", NULL};

static void by_fexecve(void)
{
    fexecve(open(own, O_RDONLY | O_CLOEXEC), print_words, environ);
}

static void by_open_descriptor(void)
{
    syscall(SYS_execveat, open(own, O_RDONLY), "", print_words, environ, AT_EMPTY_PATH);
}

static void by_path_descriptor(void)
{
    syscall(SYS_execveat, open(own, O_PATH | O_CLOEXEC), "", print_words, environ, AT_EMPTY_PATH);
}

static void by_folder(void)
{
    *strrchr(own, '/') = '\0';
    syscall(SYS_execveat, open(own, O_PATH | O_CLOEXEC), "executes", print_words, environ, 0);
}

static void by_name(void)
{
    *strrchr(own, '/') = '\0';
    if (chdir(own) == 0)
        execve("executes", print_words, environ);
}

static void by_memory(void)
{
    static char bytes[1 << 20];
    int file = open(own, O_RDONLY | O_CLOEXEC), memory = memfd_create("executes", MFD_CLOEXEC);
    ssize_t size = read(file, bytes, sizeof bytes);
    if (write(memory, bytes, (size_t)size) == size)
        fexecve(memory, print_words, environ);
}

static void by_script(void)
{
    execve("script", print_words, environ);
}

static void by_script_descriptor(void)
{
    syscall(SYS_execveat, open("script", O_RDONLY), "", print_words, environ, AT_EMPTY_PATH);
}

static void by_itself(void)
{
    execve("/proc/self/exe", print_words, environ);
}

static void by_vfork(void)
{
    int status;
    pid_t child = vfork();
    if (child == 0) {
        by_fexecve();
        _exit(9);
    }
    waitpid(child, &status, 0);
    printf("vfork: %x\n", (unsigned)status);
}

static void by_spawn(void)
{
    int status;
    pid_t child;
    *strrchr(own, '/') = '\0';
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, own);
    int result = posix_spawn(&child, "executes", &actions, NULL, print_words, environ);
    waitpid(child, &status, 0);
    printf("spawn: %d %x\n", result, (unsigned)status);
}

/* No arguments at all: the kernel adds an empty one. */
static void by_nothing(void)
{
    syscall(SYS_execve, "/bin/sh", NULL, environ);
}

/* Arguments of the maximum length. */
static void by_length(void)
{
    struct rlimit limit;
    char *longest = malloc(131072), *many[20] = {print_words[0], print_words[1], "long"};
    memset(longest, 'x', 131071);
    longest[131071] = '\0';
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = 256 << 10; /* for which the kernel allows 128 KiB */
    setrlimit(RLIMIT_STACK, &limit);
    many[3] = longest + 20000;
    execve(own, many, print_words + 3);
}

static const struct way {
    const char *name;
    void (*execute)(void);
} ways[] = {{"fexecve", by_fexecve},
            {"open", by_open_descriptor},
            {"path", by_path_descriptor},
            {"folder", by_folder},
            {"name", by_name},
            {"memory", by_memory},
            {"script", by_script},
            {"script_descriptor", by_script_descriptor},
            {"itself", by_itself},
            {"vfork", by_vfork},
            {"spawn", by_spawn},
            {"nothing", by_nothing},
            {"length", by_length}};

int main(int count, char **arguments)
{
    if (count > 2 && strcmp(arguments[1], "print") == 0) {
        printf("printed: %s %s %d\n", arguments[0], arguments[2], count);
        return 4;
    }
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length < 0 || count != 2)
        return 2;
    fill_folder();
    if (strcmp(arguments[1], "fail") == 0)
        fail();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(arguments[1], ways[i].name) == 0) {
            print_words[2] = arguments[1];
            ways[i].execute();
        }
    return 0;
}
