/* Calls whose targets are known at run time only: through tables of functions, and a library that
 * calls back. */
#include <stdio.h>
#include <stdlib.h>

typedef unsigned function(unsigned);

static unsigned twice(unsigned n)
{
    return 2 * n;
}

static unsigned square(unsigned n)
{
    return n * n;
}

static unsigned negate(unsigned n)
{
    return ~n + 1;
}

static function *const functions[] = {twice, square, negate, twice};

static int calls;

static int compare(const void *a, const void *b)
{
    const unsigned *left = a;
    const unsigned *right = b;
    calls++;
    return *left < *right ? -1 : *left > *right;
}

int main(void)
{
    unsigned values[64];
    unsigned value = 12345;
    for (unsigned i = 0; i < 64; i++) {
        value = functions[value >> 4 & 3](value) * 69069 + 1;
        values[i] = value >> 8;
    }
    qsort(values, 64, sizeof values[0], compare);
    for (unsigned i = 1; i < 64; i++)
        if (values[i - 1] > values[i])
            return 9;
    printf("%d\n", calls > 64);
    return 3;
}
