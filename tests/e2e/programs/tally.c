/* Two threads count letters and digits in halves of a text, with counters in one cache line. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef FIXED
#define APART _Alignas(64)
#else
#define APART
#endif

struct tally {
    APART unsigned long letters;
    unsigned long digits;
};

static struct tally tallies[2];
static char text[16384];
static unsigned rounds;

static void fill(void)
{
    unsigned random = 1;
    for (unsigned i = 0; i < sizeof text; i++) {
        random = random * 1103515245 + 12345;
        text[i] = "0123456789abcdefghijklmnopqrstuvwxyz .,;"[(random >> 16) % 40];
    }
}

static void *count(void *argument)
{
    struct tally *own = argument;
    const char *half = own == tallies ? text : text + sizeof text / 2;
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned i = 0; i < sizeof text / 2; i++)
            if (half[i] >= 'a')
                own->letters++;
            else if (half[i] >= '0')
                own->digits++;
    return NULL;
}

int main(int count_of_arguments, char **arguments)
{
    rounds = count_of_arguments > 1 ? (unsigned)atoi(arguments[1]) : 1;
    fill();
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, count, &tallies[i]) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%lu letters, %lu digits\n", tallies[0].letters + tallies[1].letters,
           tallies[0].digits + tallies[1].digits);
    return 0;
}
