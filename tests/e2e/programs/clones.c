#define _GNU_SOURCE /* CLONE_*, syscall */
/* Children by clone(2) and clone3(2), with every flag that does not make a thread; with an
 * argument, only those that need the rights of a user namespace. Each line shows what the child and
 * its parent observed. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK 65536

/* struct clone_args, as of Linux 5.7. */
struct arguments {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
        set_tid_size, cgroup;
};

static volatile sig_atomic_t caught[65];

static void catch (int number)
{
    caught[number]++;
}

static long raw_clone(uint64_t flags, int *parent_tid, int *child_tid)
{
    return syscall(SYS_clone, flags, NULL, parent_tid, child_tid, NULL);
}

static long raw_clone3(struct arguments *arguments)
{
    return syscall(SYS_clone3, arguments, sizeof *arguments);
}

/* Prints its wait status; a child without SIGCHLD needs __WCLONE. */
static int end_of(pid_t child)
{
    int status = -1;
    if (waitpid(child, &status, __WALL) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static void show(const char *what, long child, long seen)
{
    if (child < 0)
        printf("%s: %s\n", what, strerrorname_np(errno));
    else
        printf("%s: ended %d, seen %ld\n", what, end_of((pid_t)child), seen);
    fflush(stdout);
}

/* --- allowed for any program --- */

static void by_descriptor(void)
{
    int file = -1;
    struct pollfd end = {.events = POLLIN};
    long child = raw_clone(CLONE_PIDFD | SIGCHLD, &file, NULL);
    if (child == 0)
        _exit(3);
    end.fd = file;
    show("pidfd", child, poll(&end, 1, 20000) == 1 && (fcntl(file, F_GETFD) & FD_CLOEXEC));
    close(file);
    file = -1;
    struct arguments arguments = {
        .flags = CLONE_PIDFD, .pidfd = (uintptr_t)&file, .exit_signal = SIGCHLD};
    child = raw_clone3(&arguments);
    if (child == 0)
        pause();
    long sent = syscall(SYS_pidfd_send_signal, file, SIGTERM, NULL, 0);
    show("pidfd of clone3", child, sent);
    close(file);
    show("pidfd and parent_settid",
         raw_clone(CLONE_PIDFD | CLONE_PARENT_SETTID | SIGCHLD, &file, NULL), 0);
}

static void by_numbers(void)
{
    int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
        own = 0;
    long child = raw_clone(
        CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD, &own, shared);
    if (child == 0)
        _exit(*shared == getpid() && own != -1 ? 4 : 5);
    int status = end_of((pid_t)child);
    printf("settid: ended %d, seen %d %d\n", status, own == child, *shared == child);
    /* private memory: each process has its own copy */
    int number = 0, parent = 0;
    struct arguments arguments = {.flags = CLONE_CHILD_SETTID | CLONE_PARENT_SETTID,
                                  .child_tid = (uintptr_t)&number,
                                  .parent_tid = (uintptr_t)&parent,
                                  .exit_signal = SIGCHLD};
    child = raw_clone3(&arguments);
    if (child == 0)
        _exit(number == (int)syscall(SYS_gettid) ? 6 : 7);
    show("settid of clone3", child, parent == child && number == 0);
}

static void by_files(void)
{
    long child = raw_clone(CLONE_FILES | SIGCHLD, NULL, NULL);
    if (child == 0)
        _exit(open("/dev/null", O_RDONLY) < 0 || dup2(0, 50) != 50);
    int status = end_of((pid_t)child);
    printf("files: %d, there %d\n", status, fcntl(50, F_GETFD) >= 0);
    close(50);
    mkdir("folder", 0777);
    child = raw_clone(CLONE_FS | SIGCHLD, NULL, NULL);
    if (child == 0) {
        umask(0);
        _exit(chdir("folder") != 0);
    }
    status = end_of((pid_t)child);
    char folder[4096];
    printf("fs: %d, %s, %o\n", status, strrchr(getcwd(folder, sizeof folder), '/'), umask(022));
    if (chdir("..") != 0)
        perror("..");
    child = raw_clone(CLONE_FILES | CLONE_FS | CLONE_IO | CLONE_SYSVSEM | CLONE_UNTRACED | SIGCHLD,
                      NULL, NULL);
    if (child == 0)
        _exit(8);
    show("all that can be shared", child, 0);
}

static void by_signal(void)
{
    signal(SIGUSR1, catch);
    long child = raw_clone(SIGUSR1, NULL, NULL);
    if (child == 0)
        _exit(9);
    int status = end_of((pid_t)child);
    printf("exit signal: %d, %d\n", status, caught[SIGUSR1]);
    child = raw_clone(0, NULL, NULL);
    if (child == 0)
        _exit(10);
    errno = 0;
    int none = waitpid((pid_t)child, NULL, 0) == -1 ? errno : 0;
    show("no exit signal", child, none == ECHILD);
    struct sigaction action;
    signal(SIGUSR2, SIG_IGN);
    struct arguments arguments = {.flags = CLONE_CLEAR_SIGHAND, .exit_signal = SIGCHLD};
    child = raw_clone3(&arguments);
    if (child == 0) {
        sigaction(SIGUSR2, NULL, &action);
        if (action.sa_handler != SIG_IGN)
            _exit(11);
        sigaction(SIGUSR1, NULL, &action);
        if (action.sa_handler != SIG_DFL)
            _exit(12);
        raise(SIGUSR1);
        _exit(13);
    }
    show("clear_sighand", child, 0);
    sigaction(SIGUSR1, NULL, &action);
    printf("clear_sighand: still caught %d\n", action.sa_handler == catch);
}

/* The child is its parent's sibling. */
static void by_parent(void)
{
    int ends[2], number = 0;
    if (pipe(ends) != 0)
        perror("pipe");
    long child = raw_clone(SIGCHLD, NULL, NULL);
    if (child == 0) {
        long sibling = raw_clone(CLONE_PARENT | SIGCHLD, NULL, NULL);
        if (sibling == 0)
            _exit(14);
        number = (int)sibling;
        if (write(ends[1], &number, sizeof number) != sizeof number)
            _exit(15);
        _exit(16);
    }
    if (read(ends[0], &number, sizeof number) != sizeof number)
        perror("read");
    show("parent", child, 0);
    show("sibling", number, 0);
}

/* The parent waits; memory is shared or not. */
static void by_waiting(void)
{
    volatile int *shared =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    long child = raw_clone(CLONE_VFORK | SIGCHLD, NULL, NULL);
    if (child == 0) {
        usleep(20000);
        *shared = 1;
        _exit(17);
    }
    int waited = *shared;
    show("vfork alone", child, waited);
    int file = -1;
    struct arguments arguments = {.flags =
                                      CLONE_PIDFD | CLONE_VM | CLONE_VFORK | CLONE_CLEAR_SIGHAND,
                                  .pidfd = (uintptr_t)&file,
                                  .exit_signal = SIGCHLD,
                                  .stack = (uintptr_t)malloc(STACK),
                                  .stack_size = STACK};
    /* with a separate stack the child must not return: it executes a program */
    register long result __asm__("rax") = SYS_clone3;
    register void *first __asm__("rdi") = &arguments;
    register size_t second __asm__("rsi") = sizeof arguments;
    __asm__ volatile("syscall\n"
                     "    test %%rax, %%rax\n"
                     "    jnz 1f\n"
                     "    mov $18, %%edi\n"
                     "    mov $60, %%eax\n"
                     "    syscall\n"
                     "1:"
                     : "+r"(result)
                     : "r"(first), "r"(second)
                     : "rcx", "r11", "memory");
    long made = result;
    show("vfork of clone3", made, file >= 0 && caught[SIGUSR1] == 1);
    arguments.stack = 0;
    errno = 0;
    show("a size and no stack", raw_clone3(&arguments), 0);
}

/* --- allowed in a user namespace --- */

static void by_namespaces(void)
{
    static const struct {
        const char *name;
        uint64_t flag;
    } kinds[] = {{"user", CLONE_NEWUSER},    {"mnt", CLONE_NEWNS},  {"uts", CLONE_NEWUTS},
                 {"ipc", CLONE_NEWIPC},      {"net", CLONE_NEWNET}, {"pid", CLONE_NEWPID},
                 {"cgroup", CLONE_NEWCGROUP}};
    char own[64], link[64], path[64];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint64_t flags = CLONE_NEWUSER | kinds[i].flag;
        snprintf(path, sizeof path, "/proc/self/ns/%s", kinds[i].name);
        ssize_t length = readlink(path, own, sizeof own);
        long child = raw_clone(flags | SIGCHLD, NULL, NULL);
        if (child == 0) {
            char *const again[] = {"clones", "say", NULL};
            /* /proc still belongs to the parent's namespace: the child has another number there */
            if (flags & CLONE_NEWPID)
                _exit(getpid() == 1 ? 20 : 21);
            if (readlink(path, link, sizeof link) == length &&
                memcmp(own, link, (size_t)length) == 0)
                _exit(22);
            execv("/proc/self/exe", again);
            _exit(23);
        }
        show(kinds[i].name, child, 0);
    }
    long child = raw_clone(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, NULL, NULL);
    if (child == 0) {
        long other = fork();
        if (other == 0) {
            printf("in it: %d %d\n", getpid(), getppid());
            fflush(stdout);
            _exit(24);
        }
        show("in it", other, other);
        fflush(stdout);
        _exit(25);
    }
    show("a tree", child, 0);
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], "say") == 0) {
        printf("executed\n");
        return 26;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count > 1) {
        by_namespaces();
        return 0;
    }
    by_descriptor();
    by_numbers();
    by_files();
    by_signal();
    by_parent();
    by_waiting();
    return 0;
}
