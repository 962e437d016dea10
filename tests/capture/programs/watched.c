/* Calls a function in several threads; the exit status is 0. */
#include <pthread.h>
#include <stddef.h>

#define CALLS 1000ul

unsigned long watched(unsigned long number);

__attribute__((noinline)) unsigned long watched(unsigned long number)
{
    __asm__ volatile("" : "+r"(number));
    return 3 * number + 1;
}

static void *work(void *first)
{
    unsigned long begin = (unsigned long)first;
    for (unsigned long i = begin; i < begin + CALLS; i++)
        if (watched(i) != 3 * i + 1)
            return first;
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    void *results[2];
    for (unsigned long i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)(i * CALLS)) != 0)
            return 1;
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], &results[i]);
    return results[0] || results[1];
}
