/*
 * A program that computes, and little else: what bench `exec_programs` runs natively and
 * translated. Sorting, matrices, a sieve, hashing, strings, calls through pointers.
 *
 * usage: compute [TIMES]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS 200000
#define SIDE    160
#define SIEVE   1000000
#define WORDS   20000

static uint64_t state = 88172645463325252u;

static uint64_t random_number(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int compare(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

static uint64_t sorting(void)
{
    static uint32_t numbers[NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = (uint32_t)random_number();
    qsort(numbers, NUMBERS, sizeof *numbers, compare);
    return numbers[NUMBERS / 2];
}

static uint64_t multiplying(void)
{
    static double a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            a[i][j] = i - j;
            b[i][j] = i + j;
        }
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            double sum = 0;
            for (int k = 0; k < SIDE; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    return (uint64_t)(int64_t)c[SIDE / 3][SIDE / 2];
}

static uint64_t sieving(void)
{
    static uint8_t composite[SIEVE];
    uint64_t count = 0;
    memset(composite, 0, sizeof composite);
    for (uint32_t i = 2; i < SIEVE; i++) {
        if (composite[i])
            continue;
        count++;
        for (uint64_t j = (uint64_t)i * i; j < SIEVE; j += i)
            composite[j] = 1;
    }
    return count;
}

struct word {
    struct word *next;
    unsigned count;
    char text[12];
};

static uint64_t counting_words(void)
{
    static struct word words[WORDS], *table[4096];
    uint64_t used = 0, most = 0;
    memset(table, 0, sizeof table);
    for (int i = 0; i < 10 * WORDS && used < WORDS; i++) {
        char text[12];
        uint64_t value = random_number() % 3000, hash = 5381;
        int length = 0;
        do
            text[length++] = (char)('a' + value % 10);
        while ((value /= 10) != 0);
        text[length] = 0;
        for (int j = 0; j < length; j++)
            hash = hash * 33 + (uint8_t)text[j];
        struct word **at = &table[hash % 4096];
        while (*at && strcmp((*at)->text, text) != 0)
            at = &(*at)->next;
        if (!*at) {
            *at = &words[used++];
            **at = (struct word){.count = 0};
            memcpy((*at)->text, text, (size_t)length + 1);
        }
        if (++(*at)->count > most)
            most = (*at)->count;
    }
    return most + used;
}

static uint64_t fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static uint64_t calling(void)
{
    return fibonacci(27);
}

int main(int argc, char **argv)
{
    static uint64_t (*const parts[])(void) = {sorting, multiplying, sieving, counting_words,
                                              calling};
    int times = argc > 1 ? atoi(argv[1]) : 20;
    uint64_t sum = 0;
    for (int i = 0; i < times; i++)
        for (size_t j = 0; j < sizeof parts / sizeof *parts; j++)
            sum = sum * 31 + parts[j]();
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
