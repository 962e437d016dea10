#define _GNU_SOURCE /* REG_RIP, sigqueue */
/* A program's use of signals; its output is the same in every run. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICKS 200

static volatile sig_atomic_t count, depth, deepest;
static char alternate[65536];
static volatile int on_alternate, value;
static sigjmp_buf back;

static int is_in(const void *memory, size_t size, const void *place)
{
    return (uintptr_t)place - (uintptr_t)memory < size;
}

static void counts(int number)
{
    (void)number;
    count++;
}

static void nests(int number)
{
    if (++depth > deepest)
        deepest = depth;
    if (depth < 4)
        raise(number);
    depth--;
}

static void looks(int number, siginfo_t *info, void *context)
{
    char here;
    (void)number;
    (void)context;
    on_alternate = is_in(alternate, sizeof alternate, &here);
    value = info->si_value.sival_int;
}

static void jumps(int number)
{
    siglongjmp(back, number);
}

static const struct itimerval every = {{0, 700}, {0, 700}}, never = {{0, 0}, {0, 0}};

/* Registers of all kinds must be preserved. Stops the timer: if each signal takes as long as its
 * interval, the program makes no progress. */
static void spoils(int number)
{
    volatile double d = number;
    if (++count == TICKS)
        setitimer(ITIMER_REAL, &never, NULL);
    for (int i = 0; i < 20; i++)
        d = d * 1.5 + i;
    char bytes[256];
    memset(bytes, (int)d, sizeof bytes);
    __asm__ volatile("" : : "r"(bytes) : "memory");
}

static void on(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

static void simple(void)
{
    on(SIGUSR1, counts, 0);
    for (int i = 0; i < 5; i++)
        raise(SIGUSR1);
    kill(getpid(), SIGUSR1);
    printf("raised: %d\n", (int)count);
    on(SIGUSR1, counts, (int)SA_RESETHAND);
    raise(SIGUSR1);
    struct sigaction action;
    sigaction(SIGUSR1, NULL, &action);
    printf("reset: %d\n", action.sa_handler == SIG_DFL);
    on(SIGUSR2, nests, SA_NODEFER);
    raise(SIGUSR2);
    printf("nested: %d\n", (int)deepest);
    on(SIGUSR1, SIG_IGN, 0);
    raise(SIGUSR1);
    on(SIGCHLD, SIG_DFL, 0);
    raise(SIGCHLD);
}

static void masks(void)
{
    sigset_t set, old, waiting;
    count = 0;
    on(SIGUSR1, counts, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGSEGV);
    sigprocmask(SIG_BLOCK, &set, &old);
    raise(SIGUSR1);
    raise(SIGUSR1);
    sigpending(&waiting);
    printf("blocked: %d, waits %d\n", (int)count, sigismember(&waiting, SIGUSR1));
    on(SIGSEGV, counts, 0);
    raise(SIGSEGV);
    printf("still: %d\n", (int)count);
    sigprocmask(SIG_SETMASK, &old, NULL);
    printf("unblocked: %d\n", (int)count);
    on(SIGSEGV, SIG_DFL, 0);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1);
    siginfo_t info;
    printf("waited for: %d\n", sigwaitinfo(&set, &info));
    raise(SIGUSR1);
    sigemptyset(&waiting);
    printf("suspended: %d, %d\n", sigsuspend(&waiting), errno == EINTR);
    sigprocmask(SIG_SETMASK, NULL, &waiting);
    printf("after: %d, mask %d\n", (int)count, sigismember(&waiting, SIGUSR1));
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static void stacks(void)
{
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate}, old;
    struct sigaction action = {.sa_sigaction = looks, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGRTMIN + 1, &action, NULL);
    sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = 77});
    sigaltstack(NULL, &old);
    printf("stack: %d, value %d, %d\n", on_alternate, value, old.ss_flags);
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGRTMIN + 1, &action, NULL);
    sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = 78});
    printf("stack: %d, value %d\n", on_alternate, value);
    on(SIGUSR1, jumps, 0);
    int number = sigsetjmp(back, 1);
    if (number == 0)
        raise(SIGUSR1);
    printf("jumped: %d\n", number == SIGUSR1);
}

/* A timer interrupts calculations anywhere. */
static void timers(void)
{
    static char from[40000], to[40000];
    uint64_t sum = 0, other = 0;
    double real = 0;
    count = 0;
    on(SIGALRM, spoils, SA_RESTART);
    setitimer(ITIMER_REAL, &every, NULL);
    for (uint64_t i = 0; count < TICKS; i++) {
        uint64_t a = 0, b = 1;
        double r = 1;
        for (uint64_t j = 1; j < 2000; j++) {
            a = a * 31 + (j ^ b);
            b = b << 7 | b >> 57;
            r += 1.0 / (double)(j * j);
        }
        size_t size = sizeof from;
        char *source = from, *target = to;
        memset(from, (int)i, sizeof from);
        __asm__ volatile("rep movsb" : "+S"(source), "+D"(target), "+c"(size) : : "memory");
        if (i > 0 && (a != sum || b != other || r != real || memcmp(from, to, sizeof to) != 0)) {
            printf("changed\n");
            exit(1);
        }
        sum = a;
        other = b;
        real = r;
    }
    printf("timer: %016llx %.12f\n", (unsigned long long)sum, real);
}

/* Sends signals until it is stopped; or a few, and then writes. */
static pid_t sender(int end)
{
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        for (int i = 0; end < 0 || i < 3; i++) {
            usleep(20000);
            kill(parent, SIGUSR1);
        }
        usleep(20000);
        (void)!write(end, "x", 1);
        _exit(0);
    }
    return child;
}

static void stop(pid_t child)
{
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0)
        ;
}

static void waits(void)
{
    int ends[2];
    char byte;
    (void)!pipe(ends);
    count = 0;
    on(SIGUSR1, counts, 0);
    pid_t child = sender(-1);
    ssize_t got = read(ends[0], &byte, 1);
    printf("interrupted: %zd %d %d\n", got, errno == EINTR, count > 0);
    struct timespec long_time = {1000, 0}, left = {0, 0};
    int result = nanosleep(&long_time, &left);
    printf("slept: %d %d, left %d\n", result, errno == EINTR, left.tv_sec > 0);
    printf("paused: %d\n", pause());
    stop(child);
    on(SIGUSR1, counts, SA_RESTART);
    count = 0;
    child = sender(ends[1]);
    got = read(ends[0], &byte, 1);
    printf("restarted: %zd %d\n", got, count > 0);
    stop(child);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    simple();
    masks();
    stacks();
    timers();
    waits();
    return 0;
}
