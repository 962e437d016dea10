/* Nested loops, with and without an exit in their middle; the argument counts the iterations. */
#include <stdio.h>
#include <stdlib.h>

#define SIDE  12
#define SIEVE 400

static unsigned multiply(void)
{
    unsigned a[SIDE][SIDE];
    unsigned b[SIDE][SIDE];
    unsigned trace = 0;
    for (unsigned i = 0; i < SIDE; i++)
        for (unsigned j = 0; j < SIDE; j++) {
            a[i][j] = i * j + 1;
            b[i][j] = i ^ j;
        }
    for (unsigned i = 0; i < SIDE; i++)
        for (unsigned j = 0; j < SIDE; j++) {
            unsigned sum = 0;
            for (unsigned k = 0; k < SIDE; k++)
                sum += a[i][k] * b[k][j];
            trace += i == j ? sum : 0;
        }
    return trace;
}

static unsigned count_primes(void)
{
    unsigned char composite[SIEVE] = {0};
    unsigned primes = 0;
    for (unsigned i = 2; i < SIEVE; i++) {
        if (composite[i])
            continue;
        primes++;
        for (unsigned j = i * i; j < SIEVE; j += i)
            composite[j] = 1;
    }
    return primes;
}

static unsigned longest_way_to_one(unsigned below)
{
    unsigned longest = 0;
    for (unsigned start = 1; start < below; start++) {
        unsigned steps = 0;
        unsigned n = start;
        while (n != 1) {
            n = n % 2 ? 3 * n + 1 : n / 2;
            if (++steps > 150)
                break;
        }
        if (steps > longest)
            longest = steps;
    }
    return longest;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < rounds; i++)
        printf("%u %u %u\n", multiply(), count_primes(), longest_way_to_one(60));
    return 0;
}
