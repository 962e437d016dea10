/* Functions that end in a jump to another function, and one that the loader chooses. */
#include <stdio.h>

__attribute__((noinline)) static unsigned odd(unsigned n);

__attribute__((noinline)) static unsigned even(unsigned n)
{
    return n == 0 ? 1 : odd(n - 1);
}

__attribute__((noinline)) static unsigned odd(unsigned n)
{
    return n == 0 ? 0 : even(n - 1);
}

static unsigned chosen_square(unsigned n)
{
    return n * n;
}

static void *choose(void)
{
    return (void *)chosen_square;
}

unsigned square(unsigned n) __attribute__((ifunc("choose")));

__attribute__((noinline, cold)) static unsigned rare(unsigned n)
{
    return n ^ 5;
}

/* Its unlikely branch may be in a section of its own, and returns into the loop. */
__attribute__((noinline)) static unsigned divided(unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++) {
        sum += i;
        if (__builtin_expect(i % 16 == 9, 0))
            sum += rare(i);
    }
    return sum;
}

int main(void)
{
    unsigned sum = 0;
    for (volatile unsigned i = 0; i < 13; i++)
        sum += even(i) + square(i);
    printf("%u\n", sum + divided(40));
    return 5;
}
