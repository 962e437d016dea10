#include "formats/base/file_io.h"

#include "tests/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SIZE (512u * 1024u) /* more than a pipe's capacity */

/* The other end of a pipe: reads or writes, after a delay. */
struct other {
    int file;
    size_t bytes;
};

static void pause_briefly(void)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    nanosleep(&pause, NULL);
}

static void *take_all(void *argument)
{
    struct other *other = argument;
    char buffer[4096];
    ssize_t got;
    pause_briefly();
    while ((got = read(other->file, buffer, sizeof buffer)) > 0) {
        for (ssize_t i = 0; i < got; i++)
            CU_ASSERT_EQUAL_FATAL(buffer[i], (char)((other->bytes + (size_t)i) % 251));
        other->bytes += (size_t)got;
    }
    return NULL;
}

static void *send_late(void *argument)
{
    struct other *other = argument;
    pause_briefly();
    CU_ASSERT_EQUAL(write(other->file, "late", 4), 4);
    return NULL;
}

static void test_write_waits(void)
{
    static char bytes[SIZE];
    struct other other = {0};
    pthread_t thread;
    int ends[2];
    size_t done;
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (char)(i % 251);
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    CU_ASSERT_EQUAL(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    other.file = ends[0];
    pthread_create(&thread, NULL, take_all, &other);
    CU_ASSERT_EQUAL(file_write(ends[1], bytes, SIZE, &done), 0);
    CU_ASSERT_EQUAL(done, SIZE);
    close(ends[1]);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(other.bytes, SIZE);
    close(ends[0]);
}

static void test_read_waits(void)
{
    struct other other;
    pthread_t thread;
    char bytes[8];
    int ends[2];
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    CU_ASSERT_EQUAL(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    other.file = ends[1];
    pthread_create(&thread, NULL, send_late, &other);
    CU_ASSERT_EQUAL(file_read(ends[0], bytes, sizeof bytes), 4);
    pthread_join(thread, NULL);
    close(ends[1]);
    CU_ASSERT_EQUAL(file_read(ends[0], bytes, sizeof bytes), 0);
    close(ends[0]);
}

static void test_failures(void)
{
    char byte = 0;
    size_t done = 1;
    int full = open("/dev/full", O_WRONLY | O_NONBLOCK);
    errno = 0;
    CU_ASSERT_EQUAL(file_write(full, &byte, 1, &done), -1);
    CU_ASSERT_EQUAL(errno, ENOSPC);
    CU_ASSERT_EQUAL(done, 0);
    CU_ASSERT_EQUAL(file_write_at(full, &byte, 1, 100), -1);
    CU_ASSERT_EQUAL(errno, ENOSPC);
    close(full);
    CU_ASSERT_EQUAL(file_read(-1, &byte, 1), -1);
    CU_ASSERT_EQUAL(errno, EBADF);
    CU_ASSERT_EQUAL(file_read_at(-1, &byte, 1, 0), -1);
}

static const struct test_case cases[] = {{"a write that would block waits", test_write_waits},
                                         {"a read that would block waits", test_read_waits},
                                         {"failures are reported", test_failures},
                                         {NULL, NULL}};
TEST_SUITE(file_io, cases)
