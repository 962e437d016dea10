/* setjmp and longjmp: out of deep calls, repeatedly, with and without the signal mask; and out of
 * handlers, also on an alternate stack. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static jmp_buf plain;
static sigjmp_buf with_mask, without_mask;
static volatile int rounds, sum;
static char stack_of_handlers[65536];

static void down(int depth, int value)
{
    volatile char frame[100];
    frame[depth % 100] = (char)value;
    if (depth == 0)
        longjmp(plain, value);
    down(depth - 1, value);
    sum += frame[depth % 100]; /* never */
}

static void out(int number)
{
    siglongjmp(rounds % 2 ? with_mask : without_mask, number);
}

static int is_blocked(int number)
{
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    return sigismember(&mask, number);
}

/* The error exit of a computation, as in interpreters. */
static double divide(double a, double b)
{
    if (b == 0)
        longjmp(plain, 1000);
    return a / b;
}

int main(void)
{
    const stack_t stack = {.ss_sp = stack_of_handlers, .ss_size = sizeof stack_of_handlers};
    struct sigaction action = {.sa_handler = out, .sa_flags = SA_ONSTACK};
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (volatile int i = 1; i <= 200; i++) {
        int value = setjmp(plain);
        if (value == 0)
            down(i, i);
        sum += value;
    }
    printf("from depths: %d\n", sum);
    if (setjmp(plain) == 0)
        for (volatile int i = 3;; i--)
            printf("6 / %d = %g\n", i, divide(6, i));
    puts("6 / 0: out");
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGSEGV, &action, NULL);
    for (rounds = 0; rounds < 6; rounds++) {
        int number = sigsetjmp(with_mask, 1);
        number = number ? number : sigsetjmp(without_mask, 0);
        if (number == 0 && rounds < 4)
            raise(SIGUSR1);
        if (number == 0)
            *(volatile int *)8 = 1;
        printf("round %d: signal %d, blocked %d\n", (int)rounds, number, is_blocked(number));
        sigset_t mask;
        sigemptyset(&mask);
        sigprocmask(SIG_SETMASK, &mask, NULL);
    }
    return 0;
}
