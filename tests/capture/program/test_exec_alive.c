#define _DEFAULT_SOURCE /* usleep */
#include "capture/program/alive.h"
#include "tests/suites.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t begin(void (*live)(void))
{
    pid_t child = fork();
    if (child == 0) {
        live();
        _exit(0);
    }
    return child;
}

static void sleep_on(void)
{
    for (;;)
        pause();
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void test_ends(void)
{
    siginfo_t info;
    pid_t child = begin(sleep_on);
    struct alive process = alive_process(child);
    CU_ASSERT_EQUAL(process.number, child);
    CU_ASSERT_TRUE(alive_still(&process));
    kill(child, SIGKILL);
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT); /* it still has its number */
    CU_ASSERT_FALSE(alive_still(&process));
    end(child);
    CU_ASSERT_FALSE(alive_still(&process));
    CU_ASSERT_EQUAL(alive_process(child).since, 0);
}

/* A different start time, as if the number had been reused. */
static void test_another(void)
{
    struct alive process = alive_process(getpid());
    CU_ASSERT_TRUE(alive_still(&process));
    process.since--;
    CU_ASSERT_FALSE(alive_still(&process));
    process.since = ALIVE_UNKNOWN;
    CU_ASSERT_TRUE(alive_still(&process));
}

static void *sleep_as_thread(void *context)
{
    (void)context;
    sleep_on();
    return NULL;
}

static void leave_a_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_as_thread, NULL);
    pthread_exit(NULL);
}

static char state_of(pid_t number)
{
    char path[40], state = ' ';
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)number);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        CU_FAIL("no state of a process");
    if (file)
        fclose(file);
    return state;
}

/* The first thread is a zombie afterwards; the process is not. */
static void test_first_thread_ends(void)
{
    pid_t child = begin(leave_a_thread);
    struct alive process = alive_process(child);
    char state;
    while ((state = state_of(child)) != 'Z' && state != ' ')
        usleep(5000);
    CU_ASSERT_TRUE(alive_still(&process));
    end(child);
    CU_ASSERT_FALSE(alive_still(&process));
}

/* A stopped process whose name looks like the fields of a running one. */
static void sleep_as_another(void)
{
    prctl(PR_SET_NAME, "a) S 1 (b");
    raise(SIGSTOP);
    sleep_on();
}

static void test_stopped(void)
{
    siginfo_t info;
    pid_t child = begin(sleep_as_another);
    waitid(P_PID, (id_t)child, &info, WSTOPPED);
    CU_ASSERT_TRUE(alive_is_stopped(child));
    struct alive process = alive_process(child);
    CU_ASSERT_TRUE(alive_still(&process));
    kill(child, SIGCONT);
    waitid(P_PID, (id_t)child, &info, WCONTINUED);
    CU_ASSERT_FALSE(alive_is_stopped(child));
    end(child);
    CU_ASSERT_FALSE(alive_is_stopped(child));
}

static const struct test_case cases[] = {{"a process that ends", test_ends},
                                         {"a reused number", test_another},
                                         {"its first thread ends", test_first_thread_ends},
                                         {"stopped by a signal", test_stopped},
                                         {NULL, NULL}};
TEST_SUITE(exec_alive, cases)
