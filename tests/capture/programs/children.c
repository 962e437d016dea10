#define _GNU_SOURCE /* vfork, syscall */
/* Children of all kinds. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static volatile sig_atomic_t children;

static void counts(int number)
{
    (void)number;
    children++;
}

static void show(const char *what, int status)
{
    printf("%s: %d %d\n", what, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
           WIFSIGNALED(status) ? WTERMSIG(status) : -1);
    fflush(stdout);
}

static void forks(void)
{
    int status, ends[2], total = 0, part;
    (void)!pipe(ends);
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            part = getppid() > 1 ? i * 100 : -1;
            pid_t grandchild = fork();
            if (grandchild == 0)
                _exit(i);
            waitpid(grandchild, &status, 0);
            part += WEXITSTATUS(status);
            (void)!write(ends[1], &part, sizeof part);
            exit(i);
        }
    for (int i = 0; i < 4; i++) {
        (void)!read(ends[0], &part, sizeof part);
        total += part;
    }
    part = 0;
    for (int i = 0; i < 4; i++) {
        wait(&status);
        part += WEXITSTATUS(status);
    }
    printf("forked: %d %d\n", total, part);
    pid_t child = fork();
    if (child == 0)
        *(volatile int *)8 = 1;
    waitpid(child, &status, 0);
    show("died", status);
    child = fork();
    if (child == 0)
        pause();
    kill(child, SIGTERM);
    waitpid(child, &status, 0);
    show("killed", status);
}

static void vforks(void)
{
    volatile int shared = 1;
    int status;
    pid_t child = vfork();
    if (child == 0) {
        shared = 5;
        _exit(7);
    }
    waitpid(child, &status, 0);
    show("vforked", status);
    printf("shared: %d\n", shared);
    child = vfork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "echo from a shell; exit 9", (char *)NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    show("executed", status);
}

static void spawns(void)
{
    char *arguments[] = {"sh", "-c", "echo spawned; kill -KILL $$", NULL};
    pid_t child;
    int status = -1;
    fflush(stdout);
    int result = posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ);
    waitpid(child, &status, 0);
    show("spawned", status);
    printf("result: %d\n", result);
    printf("no such program: %d\n",
           posix_spawn(&child, "/does/not/exist", NULL, NULL, arguments, environ) == ENOENT);
    fflush(stdout);
    show("system", system("echo system; exit 3"));
    FILE *pipe_ = popen("echo piped", "r");
    char line[64] = "";
    (void)!fgets(line, sizeof line, pipe_);
    printf("%s", line);
    show("closed", pclose(pipe_));
}

static int *words; /* shared: the kernel clears them when a thread ends */

static void *be_late(void *ends)
{
    char byte;
    (void)!read(*(int *)ends, &byte, 1);
    while (words[1] != 0)
        usleep(100);
    usleep(10000);
    _exit(words[0] == 77 ? 6 : 7);
}

/* By the bare system call: the child's first thread ends before another; the child has the
 * requested state, and none of its parent's. */
static void clones(void)
{
    pthread_t late;
    int ends[2], status;
    words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    words[0] = 77;
    (void)!pipe(ends);
    syscall(SYS_set_tid_address, &words[0]);
    fflush(stdout);
    pid_t child = (pid_t)syscall(SYS_clone, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD,
                                 NULL, NULL, &words[1], NULL);
    if (child == 0) {
        if (pthread_create(&late, NULL, be_late, &ends[0]) != 0) {
            words[1] = 0; /* this system has no threads */
            _exit(6);
        }
        (void)!write(ends[1], "x", 1);
        syscall(SYS_exit, 5);
    }
    waitpid(child, &status, 0);
    show("clone", status);
    printf("clone: %d %d\n", words[0], words[1]);
}

int main(int count, char **arguments)
{
    if (count > 1) {
        sigset_t set;
        sigprocmask(SIG_BLOCK, NULL, &set);
        struct sigaction ignored, caught;
        sigaction(SIGUSR1, NULL, &ignored);
        sigaction(SIGUSR2, NULL, &caught);
        printf("%s %s, blocked %d, ignored %d, caught %d\n", arguments[0], arguments[1],
               sigismember(&set, SIGHUP), ignored.sa_handler == SIG_IGN,
               caught.sa_handler != SIG_DFL);
        return 21;
    }
    struct sigaction action = {.sa_handler = counts, .sa_flags = SA_RESTART};
    sigaction(SIGCHLD, &action, NULL);
    forks();
    vforks();
    spawns();
    clones();
    printf("children: %d\n", children > 0);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGUSR1, SIG_IGN);
    signal(SIGUSR2, counts);
    fflush(stdout);
    printf("%d\n", execl("/does/not/exist", "x", (char *)NULL));
    fflush(stdout);
    execl("/proc/self/exe", "again", "executed", (char *)NULL);
    return 1;
}
