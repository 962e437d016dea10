#define _GNU_SOURCE /* SYS_execveat */
/* Programs that are probed, but not executed. */
#include "capture/exec/kernel/execute_probe.h"
#include "tests/suites.h"
#include "tests/support/exec_child.h"
#include "tests/support/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const words[] = {"words", NULL};
static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};

/* AddressSanitizer hangs in a child that must not make system calls; that child executes no
 * programs anyway. */
static int64_t probe(const char *path)
{
    const uint64_t arguments[6] = {(uintptr_t)path, (uintptr_t)words, (uintptr_t)environment};
    return execute_probe(SYS_execve, arguments);
}

static int run(const char *path, const char *const *arguments, const int inherited[2])
{
    return execute_and_wait(path, (char *const *)arguments, (char *const *)environment, inherited);
}

static void make_script(char *path, const char *folder, const char *name, const char *text)
{
    snprintf(path, FOLDER_PATH_BYTES + 32, "%s/%s", folder, name);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    CU_ASSERT_EQUAL(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
}

/* The probe has no visible effect. */
static void test_succeeds(void)
{
    if (!EXEC_CHILD_LOW_MEMORY)
        return;
    char folder[FOLDER_PATH_BYTES], script[FOLDER_PATH_BYTES + 32], text[FOLDER_PATH_BYTES + 64];
    sigset_t all, before, pending;
    struct stat status;
    folder_make_for_programs(folder);
    snprintf(text, sizeof text, "#!/bin/sh\ntouch %s/ran\n", folder);
    make_script(script, folder, "script", text);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    for (int i = 0; i < 50; i++)
        CU_ASSERT_EQUAL(probe(script), 0);
    CU_ASSERT_EQUAL(probe("/bin/true"), 0);
    sigpending(&pending);
    CU_ASSERT_FALSE(sigismember(&pending, SIGCHLD));
    sigprocmask(SIG_SETMASK, &before, NULL);
    CU_ASSERT(waitpid(-1, NULL, __WALL | WNOHANG) == -1 && errno == ECHILD);
    snprintf(text, sizeof text, "%s/ran", folder);
    CU_ASSERT_EQUAL(stat(text, &status), -1);
    folder_remove(folder);
}

static void test_fails(void)
{
    if (!EXEC_CHILD_LOW_MEMORY)
        return;
    char folder[FOLDER_PATH_BYTES], path[FOLDER_PATH_BYTES + 32];
    sigset_t all, before;
    folder_make_for_programs(folder);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    CU_ASSERT_EQUAL(probe("/nonexistent"), -ENOENT);
    CU_ASSERT_EQUAL(probe("/"), -EACCES);
    CU_ASSERT_EQUAL(probe((const char *)16), -EFAULT);
    make_script(path, folder, "text", "no program\n");
    CU_ASSERT_EQUAL(probe(path), -ENOEXEC);
    make_script(path, folder, "lost", "#!/nonexistent\n");
    CU_ASSERT_EQUAL(probe(path), -ENOENT);
    int busy = open(path, O_WRONLY | O_CLOEXEC);
    CU_ASSERT_EQUAL(probe(path), -ETXTBSY);
    close(busy);
    /* any number of 0 and above may be a descriptor that was inherited */
    const uint64_t at[6] = {UINT64_MAX, (uintptr_t) "true", (uintptr_t)words,
                            (uintptr_t)environment, 0};
    CU_ASSERT_EQUAL(execute_probe(SYS_execveat, at), -EBADF);
    sigprocmask(SIG_SETMASK, &before, NULL);
    folder_remove(folder);
}

static void test_waits(void)
{
    static const char *const shell[] = {"sh", "-c", "exit 7", NULL};
    static const char *const killed[] = {"sh", "-c", "kill -TERM $$", NULL};
    const int none[2] = {-1, -1};
    int status = run("/bin/sh", shell, none);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    status = run("/bin/sh", killed, none);
    CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    CU_ASSERT_EQUAL(run("/nonexistent", shell, none), -1);
    /* descriptors closed on execution, except this one */
    int ends[2];
    char byte = 0;
    CU_ASSERT_EQUAL(pipe2(ends, O_CLOEXEC), 0);
    char text[64];
    snprintf(text, sizeof text, "echo x >/proc/self/fd/%d", ends[1]);
    const char *const writes[] = {"sh", "-c", text, NULL};
    const int inherited[2] = {ends[1], -1};
    CU_ASSERT_EQUAL(run("/bin/sh", writes, inherited), 0);
    CU_ASSERT_EQUAL(read(ends[0], &byte, 1), 1);
    CU_ASSERT(byte == 'x' && fcntl(ends[1], F_GETFD) == FD_CLOEXEC);
    close(ends[0]);
    close(ends[1]);
}

static const struct test_case cases[] = {{"that succeed", test_succeeds},
                                         {"that fail", test_fails},
                                         {"that are waited for", test_waits},
                                         {NULL, NULL}};
TEST_SUITE(exec_execute, cases)
