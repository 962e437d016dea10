/* Threads that take no signals, and the number of processors. */
#include "formats/base/thread.h"
#include "tests/suites.h"

#include <signal.h>

static void *note_mask(void *argument)
{
    pthread_sigmask(SIG_SETMASK, NULL, argument);
    return NULL;
}

static void test_without_signals(void)
{
    sigset_t before, within, after;
    pthread_t thread;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    CU_ASSERT_EQUAL_FATAL(thread_start_without_signals(&thread, note_mask, &within), 0);
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    CU_ASSERT_TRUE(sigismember(&within, SIGINT) && sigismember(&within, SIGTERM));
    CU_ASSERT_EQUAL(sigismember(&after, SIGINT), sigismember(&before, SIGINT));
}

static void test_processors(void)
{
    CU_ASSERT_TRUE(thread_processors() >= 1);
}

static const struct test_case cases[] = {
    {"without signals", test_without_signals}, {"processors", test_processors}, {NULL, NULL}};
TEST_SUITE(thread, cases)
