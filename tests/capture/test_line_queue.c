#define _DEFAULT_SOURCE /* usleep */
#include "capture/line_queue.h"
#include "tests/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATIENT_MS 60000

/* A full pipe, whose reader does nothing. */
static void stalled_pipe(int ends[2])
{
    static const char filling[65536];
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    int flags = fcntl(ends[1], F_GETFL);
    fcntl(ends[1], F_SETFL, flags | O_NONBLOCK);
    while (write(ends[1], filling, sizeof filling) > 0)
        continue;
    while (write(ends[1], filling, 1) > 0)
        continue;
    fcntl(ends[1], F_SETFL, flags);
}

/* Reads up to size - 1 octets after the filling. */
static size_t read_all(int end, char *text, size_t size)
{
    size_t used = 0;
    char octet;
    while (used + 1 < size && read(end, &octet, 1) == 1)
        if (octet)
            text[used++] = octet;
    text[used] = '\0';
    return used;
}

static void test_order(void)
{
    char text[2000];
    char wanted[2000] = "";
    int ends[2];
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    struct line_queue *queue = line_queue_new(ends[1], "n: ", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(queue);
    for (int i = 0; i < 100; i++) {
        char line[20];
        snprintf(line, sizeof line, "line %d\n", i);
        strcat(wanted, line);
        CU_ASSERT_TRUE(line_queue_put(queue, line, strlen(line)));
    }
    CU_ASSERT_TRUE(line_queue_wait(queue, PATIENT_MS));
    CU_ASSERT_EQUAL(line_queue_dropped(queue), 0);
    line_queue_free(queue, PATIENT_MS);
    close(ends[1]);
    read_all(ends[0], text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, wanted);
    close(ends[0]);
}

/* A stalled reader blocks no producer. After it resumes, a line reports where lines are missing. */
static void test_stalled(void)
{
    static char text[20000];
    char wanted[200];
    char line[20];
    int ends[2];
    const unsigned more = 44;
    stalled_pipe(ends);
    struct line_queue *queue = line_queue_new(ends[1], "n: ", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(queue);
    for (unsigned i = 0; i < LINE_QUEUE_LINES + more; i++) {
        snprintf(line, sizeof line, "line %u\n", i);
        CU_ASSERT_EQUAL(line_queue_put(queue, line, strlen(line)), i < LINE_QUEUE_LINES);
    }
    CU_ASSERT_EQUAL(line_queue_dropped(queue), more);
    CU_ASSERT_FALSE(line_queue_wait(queue, 50));
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    size_t used = 0;
    while (!line_queue_wait(queue, 1))
        used += read_all(ends[0], text + used, sizeof text - used);
    used += read_all(ends[0], text + used, sizeof text - used);
    snprintf(wanted, sizeof wanted, "line %u\nn: %u lines were dropped here: the reader stalled\n",
             LINE_QUEUE_LINES - 1, more);
    CU_ASSERT_TRUE_FATAL(used > strlen(wanted));
    CU_ASSERT_STRING_EQUAL(text + used - strlen(wanted), wanted);
    CU_ASSERT_EQUAL(strncmp(text, "line 0\nline 1\n", 14), 0);
    CU_ASSERT_TRUE(line_queue_put(queue, "again\n", 6));
    line_queue_free(queue, PATIENT_MS);
    read_all(ends[0], text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "again\n");
    close(ends[0]);
    close(ends[1]);
}

/* The end does not wait for the reader either, and frees everything once the write returns. */
static void test_end_stalled(void)
{
    int ends[2];
    char text[100];
    stalled_pipe(ends);
    struct line_queue *queue = line_queue_new(ends[1], "n: ", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(queue);
    line_queue_put(queue, "one\n", 4);
    line_queue_put(queue, "two\n", 4);
    line_queue_free(queue, 20);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    text[0] = '\0';
    for (int i = 0; i < PATIENT_MS && !text[0]; i++) {
        usleep(1000);
        read_all(ends[0], text, sizeof text);
    }
    CU_ASSERT_STRING_EQUAL(text, "one\n"); /* was being written */
    close(ends[0]);
    close(ends[1]);
}

/* Another process has made the shared descriptor non-blocking. */
static void test_not_blocking(void)
{
    char text[100];
    int ends[2];
    stalled_pipe(ends);
    fcntl(ends[1], F_SETFL, O_WRONLY | O_NONBLOCK);
    struct line_queue *queue = line_queue_new(ends[1], "n: ", NULL);
    line_queue_put(queue, "one\n", 4);
    CU_ASSERT_FALSE(line_queue_wait(queue, 50));
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    read_all(ends[0], text, sizeof text);
    CU_ASSERT_TRUE(line_queue_wait(queue, PATIENT_MS));
    read_all(ends[0], text, sizeof text);
    CU_ASSERT_TRUE(line_queue_dropped(queue) == 0);
    CU_ASSERT_NOT_EQUAL(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
    line_queue_free(queue, PATIENT_MS);
    close(ends[0]);
    close(ends[1]);
}

/* A descriptor that fails does not block. */
static void test_refused(void)
{
    int full = open("/dev/full", O_WRONLY);
    struct line_queue *queue = line_queue_new(full, "n: ", NULL);
    CU_ASSERT_TRUE(line_queue_put(queue, "one\n", 4));
    CU_ASSERT_TRUE(line_queue_wait(queue, PATIENT_MS));
    CU_ASSERT_EQUAL(line_queue_dropped(queue), 1);
    CU_ASSERT_EQUAL(line_queue_errno(queue), ENOSPC);
    line_queue_free(queue, PATIENT_MS);
    close(full);
}

static const struct test_case cases[] = {{"order", test_order},
                                         {"a reader that stalls", test_stalled},
                                         {"the end with a stalled reader", test_end_stalled},
                                         {"a descriptor that does not block", test_not_blocking},
                                         {"a descriptor that refuses", test_refused},
                                         {NULL, NULL}};
TEST_SUITE(line_queue, cases)
