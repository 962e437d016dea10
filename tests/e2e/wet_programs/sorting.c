/* options: -O2 -g */
/* Sorts numbers through a pointer to a comparison, with lines. */
#include "tests/e2e/wet_programs/start.h"

static unsigned numbers[24];

static int less(unsigned a, unsigned b)
{
    return a % 100 < b % 100;
}
static int greater(unsigned a, unsigned b)
{
    return a > b;
}
static int (*volatile orders[2])(unsigned, unsigned) = {less, greater};

__attribute__((noinline)) static void sort(unsigned *some, int count, int order)
{
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && orders[order](some[j], some[j - 1]); j--) {
            const unsigned other = some[j];
            some[j] = some[j - 1];
            some[j - 1] = other;
        }
}

int program(void)
{
    unsigned seed = 1;
    for (int i = 0; i < 24; i++)
        numbers[i] = seed = seed * 1664525u + 1013904223u;
    sort(numbers, 12, 0);
    sort(numbers, 24, 1);
    return numbers[3] & 1;
}
