/* options: -O1 */
/* Recursion: directly, in turn, and through a pointer. */
#include "tests/e2e/wet_programs/start.h"

static int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static int is_odd(int n);
__attribute__((noinline)) static int is_even(int n)
{
    return n == 0 ? 1 : is_odd(n - 1) + 0 * (n & 1);
}
__attribute__((noinline)) static int is_odd(int n)
{
    return n == 0 ? 0 : is_even(n - 1);
}

static int fibonacci(int n);
static int (*volatile next)(int) = fibonacci;
static int fibonacci(int n)
{
    return n < 2 ? n : next(n - 1) + next(n - 2);
}

int program(void)
{
    return (ackermann(2, 2) + is_even(9) + fibonacci(7)) & 7;
}
