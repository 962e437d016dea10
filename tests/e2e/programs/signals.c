/* Handlers of a signal that the program sends itself, of a timer's, and of faults: execution
 * continues elsewhere, or with the faulting instruction again. */
#define _GNU_SOURCE /* REG_RIP */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t raised;
static volatile sig_atomic_t ticks;
static sigjmp_buf after_fault;
static char *page;

static void count_raised(int signal)
{
    (void)signal;
    raised++;
}

static void count_tick(int signal)
{
    (void)signal;
    ticks++;
}

static void jump(int signal)
{
    siglongjmp(after_fault, signal);
}

/* Makes the page writable, so that the instruction is done again. */
static void allow(int signal)
{
    (void)signal;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static int handle(int signal, void (*handler)(int), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    return sigaction(signal, &action, NULL);
}

int main(void)
{
    const struct itimerval timer = {{0, 20000}, {0, 20000}};
    const struct itimerval off = {{0, 0}, {0, 0}};
    const struct timespec nap = {0, 90000000};
    static unsigned long spins; /* static, so that jumps leave it alone */
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || handle(SIGUSR1, count_raised, 0) != 0 ||
        handle(SIGALRM, count_tick, SA_RESTART) != 0 || handle(SIGSEGV, jump, 0) != 0)
        return 9;
    for (int i = 0; i < 3; i++)
        raise(SIGUSR1);
    if (sigsetjmp(after_fault, 1) == 0)
        page[5] = 1;
    handle(SIGSEGV, allow, 0);
    page[6] = 7;
    setitimer(ITIMER_REAL, &timer, NULL);
    while (ticks < 3)
        spins++;
    handle(SIGALRM, SIG_IGN, 0);
    nanosleep(&nap, NULL); /* interrupted, and started again by the kernel */
    setitimer(ITIMER_REAL, &off, NULL);
    printf("%d %d %d\n", (int)raised, page[6], spins > 0);
    return 6;
}
