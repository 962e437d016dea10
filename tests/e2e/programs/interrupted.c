/* Signals whose handlers return to the interrupted instruction, to another one, or not at all; then
 * threads, one after another. */
#define _GNU_SOURCE /* REG_RIP */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static volatile int handled;
static sigjmp_buf behind;
static char *page;

static void on_user(int number)
{
    (void)number;
    handled++;
}

/* Makes the page writable, so that the instruction is executed again. */
static void on_fault(int number, siginfo_t *information, void *context)
{
    (void)number;
    (void)information;
    (void)context;
    handled++;
    mprotect(page, 8192, PROT_READ | PROT_WRITE);
}

/* Continues after the instruction. */
static void on_illegal(int number, siginfo_t *information, void *context)
{
    (void)number;
    (void)information;
    handled++;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

static void on_division(int number)
{
    (void)number;
    handled++;
    siglongjmp(behind, 1);
}

static void __attribute__((noinline)) write_page(void)
{
    page[0] = 1;
}

/* The second page cannot be written: the instruction has executed some of its repetitions. */
static void __attribute__((noinline)) fill_pages(void)
{
    char *to = page + 4090;
    long count = 12;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(0) : "memory");
}

static void __attribute__((noinline)) illegal(void)
{
    __asm__ volatile("ud2");
}

static int __attribute__((noinline)) divide(int a, int b)
{
    return a / b;
}

static void *work(void *argument)
{
    handled += *(int *)argument;
    return NULL;
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    sigaction(number, &action, NULL);
}

/* The argument: the number of threads. */
int main(int argc, char **argv)
{
    int one = 1, threads = argc > 1 ? atoi(argv[1]) : 0;
    volatile int zero = 0;
    signal(SIGUSR1, on_user);
    signal(SIGFPE, on_division);
    handle(SIGSEGV, on_fault);
    handle(SIGILL, on_illegal);
    page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    raise(SIGUSR1);
    write_page();
    mprotect(page + 4096, 4096, PROT_READ);
    fill_pages();
    illegal();
    if (sigsetjmp(behind, 1) == 0)
        handled += divide(1, zero);
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, &one) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
    }
    return handled == 5 + threads ? 0 : 2;
}
