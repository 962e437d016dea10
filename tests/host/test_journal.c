#define _DEFAULT_SOURCE /* usleep */
#include "host/journal.h"
#include "tests/suites.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENT_MS 60000

/* Standard error goes into a pipe until end_capture(). */
struct captured {
    int before, pipe[2];
};

static void begin_capture(struct captured *captured)
{
    captured->before = dup(STDERR_FILENO);
    CU_ASSERT_EQUAL_FATAL(pipe(captured->pipe), 0);
    CU_ASSERT_EQUAL_FATAL(dup2(captured->pipe[1], STDERR_FILENO), STDERR_FILENO);
    close(captured->pipe[1]);
}

/* Copies the captured output to text, which has room for size octets. */
static void end_capture(struct captured *captured, char *text, size_t size)
{
    size_t used = 0;
    ssize_t got;
    dup2(captured->before, STDERR_FILENO);
    close(captured->before);
    while (used + 1 < size && (got = read(captured->pipe[0], text + used, size - used - 1)) > 0)
        used += (size_t)got;
    text[used] = '\0';
    close(captured->pipe[0]);
}

static void test_lines(void)
{
    struct captured captured;
    struct journal journal = {.lines = NULL};
    char text[1000];
    unsetenv("JOURNAL_STREAM");
    begin_capture(&captured);
    journal_write(&journal, JOURNAL_INFO, "not open yet");
    journal_flush(&journal, PATIENT_MS);
    CU_ASSERT_EQUAL(journal_open(&journal, NULL), 0);
    journal_write(&journal, JOURNAL_INFO, "one %d", 1);
    journal_write(&journal, JOURNAL_ERROR, "two\n\033[2J");
    journal_close(&journal, PATIENT_MS);
    journal_write(&journal, JOURNAL_INFO, "closed");
    end_capture(&captured, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "bustapd: one 1\nbustapd: two??[2J\n");
}

struct writing {
    struct journal *journal;
    atomic_bool stop;
    atomic_uint lines;
};

static void *write_lines(void *argument)
{
    struct writing *writing = argument;
    while (!atomic_load(&writing->stop) && atomic_load(&writing->lines) < 1000) {
        journal_write(writing->journal, JOURNAL_INFO, "x");
        writing->lines++;
        usleep(10);
    }
    return NULL;
}

/* The last message is written while other threads keep writing theirs. */
static void test_flush(void)
{
    static char text[65536];
    struct captured captured;
    struct journal journal;
    pthread_t thread;
    begin_capture(&captured);
    CU_ASSERT_EQUAL(journal_open(&journal, NULL), 0);
    struct writing writing = {.journal = &journal, .stop = false};
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, write_lines, &writing), 0);
    while (atomic_load(&writing.lines) < 100)
        journal_flush(&journal, 1);
    CU_ASSERT_PTR_NOT_NULL(journal.lines);
    atomic_store(&writing.stop, true);
    pthread_join(thread, NULL);
    journal_write(&journal, JOURNAL_INFO, "last");
    journal_flush(&journal, PATIENT_MS);
    uint64_t dropped = journal_dropped(&journal);
    journal_close(&journal, PATIENT_MS);
    end_capture(&captured, text, sizeof text);
    size_t lines = 0;
    for (const char *at = text; (at = strstr(at, "bustapd: x\n")); at++)
        lines++;
    CU_ASSERT_EQUAL(lines + dropped, writing.lines);
    CU_ASSERT(dropped > 0 || strstr(text, "bustapd: last\n") != NULL);
}

static const struct test_case cases[] = {
    {"lines", test_lines}, {"flush", test_flush}, {NULL, NULL}};
TEST_SUITE(journal, cases)
