#define _GNU_SOURCE /* pthread_sigqueue, signalfd */
/* Signals raised by instructions, and sent while they are blocked; and the order of their
 * delivery. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int ours[] = {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV};
#define OURS (sizeof ours / sizeof *ours)

static char order[1024];

static void note(int number, siginfo_t *info, void *context)
{
    size_t used = strlen(order);
    (void)context;
    snprintf(order + used, sizeof order - used, " %d/%d/%d", number, info->si_code,
             info->si_code == SI_QUEUE ? info->si_value.sival_int : 0);
}

static void print_order(const char *name)
{
    printf("%s:%s\n", name, order);
    order[0] = '\0';
}

static sigset_t set_of(const int *numbers, size_t count)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < count; i++)
        sigaddset(&set, numbers[i]);
    return set;
}

static void on(int number, int blocks)
{
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
    if (blocks)
        sigfillset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void print_pending(const char *name)
{
    sigset_t set;
    sigpending(&set);
    printf("%s:", name);
    for (int number = 1; number < 64; number++)
        if (sigismember(&set, number) == 1)
            printf(" %d", number);
    printf("\n");
}

static int send(int number, int way)
{
    switch (way) {
    case 0:
        return kill(getpid(), number);
    case 1:
        return raise(number);
    default:
        return sigqueue(getpid(), number, (union sigval){.sival_int = 10 * number});
    }
}

/* Each of the five: pending, waited for, read, inherited by other programs but not by children. */
static void waits(void)
{
    sigset_t all = set_of(ours, OURS), old;
    struct timespec now = {0, 0}, soon = {0, 20000000};
    siginfo_t info;
    sigprocmask(SIG_BLOCK, &all, &old);
    for (int way = 0; way < 3; way++) {
        for (size_t i = 0; i < OURS; i++)
            send(ours[i], way);
        print_pending("sent");
        for (size_t i = 0; i < OURS; i++) {
            int number = sigtimedwait(&all, &info, &now);
            printf("taken: %d, code %d, own %d\n", number, info.si_code, info.si_pid == getpid());
        }
        int none = sigtimedwait(&all, &info, &now);
        printf("no more: %d %d\n", none, errno == EAGAIN);
        none = sigtimedwait(&all, &info, &soon);
        printf("none: %d %d\n", none, errno == EAGAIN);
    }
    print_pending("taken");
    int descriptor = signalfd(-1, &all, SFD_NONBLOCK);
    struct pollfd polled = {.fd = descriptor, .events = POLLIN};
    struct signalfd_siginfo read_info;
    printf("poll: %d\n", poll(&polled, 1, 0));
    send(SIGSEGV, 0);
    send(SIGFPE, 2);
    printf("poll: %d\n", poll(&polled, 1, 0));
    while (read(descriptor, &read_info, sizeof read_info) == sizeof read_info)
        printf("read: %d, code %d\n", read_info.ssi_signo, read_info.ssi_code);
    close(descriptor);
    sigprocmask(SIG_SETMASK, &old, NULL);
    print_order("nothing");
}

/* A signal that arrives during a wait for it. */
static void meets(void)
{
    sigset_t all = set_of(ours, OURS), old;
    siginfo_t info;
    pid_t parent = getpid(), child;
    fflush(stdout);
    sigprocmask(SIG_BLOCK, &all, &old);
    for (int way = 0; way < 2; way++) {
        if ((child = fork()) == 0) {
            usleep(30000);
            kill(parent, way ? SIGTRAP : SIGBUS);
            _exit(0);
        }
        int descriptor = signalfd(-1, &all, SFD_NONBLOCK);
        struct pollfd polled = {.fd = descriptor, .events = POLLIN};
        printf("poll: %d\n", poll(&polled, 1, 10000));
        int number = sigwaitinfo(&all, &info);
        printf("came: %d, child's %d\n", number, info.si_pid == child);
        close(descriptor);
        waitpid(child, NULL, 0);
    }
    /* a blocked one interrupts nothing */
    if ((child = fork()) == 0) {
        usleep(30000);
        kill(parent, SIGTRAP);
        _exit(0);
    }
    struct timespec time = {0, 100000000};
    printf("slept: %d\n", nanosleep(&time, NULL));
    waitpid(child, NULL, 0);
    print_pending("after");
    sigprocmask(SIG_SETMASK, &old, NULL);
    print_order("unblocked");
}

static void inherits(char *name)
{
    sigset_t all = set_of(ours, OURS), old;
    int status;
    sigprocmask(SIG_BLOCK, &all, &old);
    send(SIGSEGV, 0);
    fflush(stdout);
    if (fork() == 0) {
        print_pending("child");
        sigprocmask(SIG_SETMASK, &old, NULL);
        fflush(stdout);
        send(SIGSEGV, 0);
        print_order("child");
        send(SIGFPE, 0);
        sigprocmask(SIG_BLOCK, &all, NULL);
        send(SIGFPE, 0);
        fflush(stdout);
        execl(name, name, "executed", NULL);
        _exit(1);
    }
    wait(&status);
    printf("ended: %d\n", status);
    sigprocmask(SIG_SETMASK, &old, NULL);
    print_order("parent");
}

/* The kernel stacks their frames: the last handler runs first, unless one blocks the others. */
static void orders(void)
{
    static const int numbers[] = {SIGUSR2, SIGUSR1, SIGHUP, SIGSEGV, SIGFPE, SIGTRAP};
    sigset_t all, old, none;
    sigfillset(&all);
    sigemptyset(&none);
    for (int blocks = 0; blocks < 2; blocks++) {
        for (int number = 1; number <= SIGRTMAX; number++)
            on(number, blocks);
        for (int way = 0; way < 5; way++) {
            sigprocmask(SIG_BLOCK, &all, &old);
            for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
                send(numbers[i], way == 3 ? (int)(i % 2) : way % 3);
            for (int i = 0; i < 4; i++)
                sigqueue(getpid(), SIGRTMIN + 3 - i % 2, (union sigval){.sival_int = i});
            print_pending("all");
            if (way == 4)
                printf("suspended: %d\n", sigsuspend(&none));
            sigprocmask(SIG_SETMASK, &old, NULL);
            print_order("order");
        }
    }
}

static void *wait_for_all(void *context)
{
    sigset_t all;
    (void)context;
    sigfillset(&all);
    for (;;) {
        siginfo_t info;
        if (sigwaitinfo(&all, &info) == SIGSEGV)
            return NULL;
    }
}

static void *wait_in_poll(void *context)
{
    sigset_t all;
    (void)context;
    sigfillset(&all);
    ppoll(NULL, 0, NULL, &all);
    return NULL;
}

/* A thread that handles all signals; and the process ends while one thread waits with all of them
 * blocked. */
static void threads(void)
{
    sigset_t all, old;
    pthread_t waiting, polling;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    pthread_create(&waiting, NULL, wait_for_all, NULL);
    pthread_create(&polling, NULL, wait_in_poll, NULL);
    usleep(20000);
    pthread_kill(waiting, SIGUSR1);
    pthread_kill(waiting, SIGSEGV);
    pthread_join(waiting, NULL);
    printf("joined\n");
    pthread_create(&waiting, NULL, wait_for_all, NULL);
    usleep(20000);
    exit(0);
}

int main(int count, char **arguments)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count > 1) {
        print_pending("executed");
        return 0;
    }
    for (size_t i = 0; i < OURS; i++)
        on(ours[i], 0);
    waits();
    meets();
    inherits(arguments[0]);
    orders();
    threads();
}
