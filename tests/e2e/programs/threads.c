/* Threads that do the same work, different work, and wait for each other. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned turn;
static unsigned total;

static unsigned work(unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += i % 3 ? i : 1;
    return sum;
}

static void *run(void *argument)
{
    unsigned number = *(const unsigned *)argument;
    unsigned sum = work(200 + 100 * number);
    for (unsigned round = 0; round < 5; round++) {
        pthread_mutex_lock(&lock);
        while (turn % 2 != number)
            pthread_cond_wait(&changed, &lock);
        total += sum + round;
        turn++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    static const unsigned numbers[2] = {0, 1};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)&numbers[i]) != 0)
            return 9;
    unsigned sum = work(100);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%u %u\n", sum, total);
    return 4;
}
