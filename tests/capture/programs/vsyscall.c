#define _GNU_SOURCE /* registers in ucontext_t */
/* The system calls at fixed addresses that old programs make, with valid and invalid arguments, on
 * kernels with and without them. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

#define PLACE 0xffffffffff600000u

static sigjmp_buf back;

static void fail(int number, siginfo_t *info, void *context)
{
    const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    printf("signal %d, %d, address %lx, at %lx, trap %d, %d\n", number, info->si_code,
           (unsigned long)(uintptr_t)info->si_addr,
           (unsigned long)registers[REG_RIP] >> 12 == PLACE >> 12
               ? (unsigned long)registers[REG_RIP]
               : 0,
           info->si_code > 0x7f ? 0 : (int)registers[REG_TRAPNO],
           info->si_code > 0x7f ? 0 : (int)registers[REG_ERR]); /* the previous value */
    siglongjmp(back, 1);
}

/* Returns the call's result, or LONG_MIN after a signal. All registers but rax keep their
 * values. */
static long call(unsigned long offset, const void *first, const void *second)
{
    if (sigsetjmp(back, 1))
        return INT64_MIN;
    long result = -1, same = 0x1234567;
    __asm__ volatile("mov %%rsp, %%rbx\n call *%3\n sub %%rsp, %%rbx\n add %%rbx, %1"
                     : "=a"(result), "+r"(same)
                     : "0"(0L), "r"((uint64_t)PLACE + offset), "D"(first), "S"(second), "d"(0L)
                     : "rbx", "rcx", "r11", "memory", "cc");
    return same == 0x1234567 ? result : -2;
}

static int is_near(time_t given)
{
    return labs((long)(time(NULL) - given)) < 5;
}

static void say(const char *what, long result)
{
    if (result != INT64_MIN)
        printf("%s: %ld\n", what, result);
}

int main(void)
{
    static const uint8_t constant[16] = {1};
    struct sigaction action = {.sa_sigaction = fail, .sa_flags = SA_SIGINFO};
    struct timeval now = {0, 0};
    struct timezone zone = {-1, -1};
    unsigned processor = 77777, node = 77777;
    time_t seconds = 0;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    say("gettimeofday", call(0, &now, &zone));
    printf("%d\n", is_near(now.tv_sec));
    say("gettimeofday of nothing", call(0, NULL, NULL));
    long result = call(0x400, &seconds, NULL);
    printf("time: %d, %d\n", is_near(result), is_near(seconds));
    result = call(0x400, NULL, NULL);
    printf("time: %d\n", is_near(result));
    say("getcpu", call(0x800, &processor, &node));
    printf("%d, %d\n", processor < 77777, node < 77777);
    for (int i = 0; i < 1000; i++)
        result = call(0x400, NULL, NULL);
    printf("again: %d\n", is_near(result));
    say("nowhere", call(0, (void *)8, NULL));
    say("constant", call(0x400, constant, NULL));
    say("not canonical", call(0x400, (void *)0x8000000000000000u, NULL));
    say("between", call(0x10, NULL, NULL));
    say("the fourth", call(0xc00, NULL, NULL));
    say("after", call(0x1000, NULL, NULL));
    if (!sigsetjmp(back, 1))
        printf("read: %d\n", *(volatile uint8_t *)(uintptr_t)PLACE != 0);
    return 0;
}
