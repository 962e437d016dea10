/* A capture as a stream: bytes for a reader that is slow or gone. */
#define _DEFAULT_SOURCE /* usleep */
#include "capture/stream_output.h"

#include "capture/pipeline_internal.h"
#include "formats/base/clock.h"
#include "tests/suites.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STREAM_BYTES 1000000u /* more than a pipe holds */

static void begin(struct capture *capture, int ends[2])
{
    *capture = (struct capture){.started_monotonic_ns = clock_monotonic_ns()};
    pthread_mutex_init(&capture->mutex, NULL);
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    signal(SIGPIPE, SIG_IGN);
}

static void end(struct capture *capture)
{
    pthread_mutex_destroy(&capture->mutex);
    signal(SIGPIPE, SIG_DFL);
}

static uint8_t byte_at(size_t i)
{
    return (uint8_t)(i * 2654435761u >> 24);
}

/* A reader that takes some bytes at a time, up to a number of them. */
struct reader_end {
    int file;
    size_t most, got;
    useconds_t pause_us;
    bool right;
};

static void *read_all(void *context)
{
    struct reader_end *reader = context;
    uint8_t bytes[3001];
    reader->right = true;
    while (reader->got < reader->most) {
        ssize_t size = read(reader->file, bytes, sizeof bytes);
        if (size <= 0)
            break;
        for (ssize_t i = 0; i < size; i++)
            reader->right = reader->right && bytes[i] == byte_at(reader->got + (size_t)i);
        reader->got += (size_t)size;
        usleep(reader->pause_us);
    }
    close(reader->file);
    return NULL;
}

/* Writes everything to a reader that reads a limited number of bytes. Returns the result, with
 * errno. */
static int write_to(struct reader_end *reader, size_t most, useconds_t pause_us, size_t *done)
{
    struct capture capture;
    int ends[2];
    pthread_t thread;
    uint8_t *bytes = malloc(STREAM_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    for (size_t i = 0; i < STREAM_BYTES; i++)
        bytes[i] = byte_at(i);
    begin(&capture, ends);
    *reader = (struct reader_end){.file = ends[0], .most = most, .pause_us = pause_us};
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, read_all, reader), 0);
    int result = stream_output_write(&capture, ends[1], bytes, STREAM_BYTES, done);
    int reason = errno;
    close(ends[1]);
    pthread_join(thread, NULL);
    end(&capture);
    free(bytes);
    errno = reason;
    return result;
}

static void test_reader(void)
{
    struct reader_end reader;
    size_t done;
    CU_ASSERT_EQUAL(write_to(&reader, SIZE_MAX, 100, &done), 0);
    CU_ASSERT_EQUAL(done, STREAM_BYTES);
    CU_ASSERT_EQUAL(reader.got, STREAM_BYTES);
    CU_ASSERT_TRUE(reader.right);
}

static void test_closed(void)
{
    struct reader_end reader;
    size_t done;
    CU_ASSERT_EQUAL(write_to(&reader, 200000, 0, &done), -1);
    CU_ASSERT_EQUAL(errno, EPIPE);
    CU_ASSERT(done >= 200000 && done < STREAM_BYTES);
    CU_ASSERT(reader.right);
}

/* A file that is not a pipe takes everything. */
static void test_file(void)
{
    struct capture capture;
    int ends[2];
    size_t done;
    char bytes[20000];
    FILE *file = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    memset(bytes, 'x', sizeof bytes);
    begin(&capture, ends);
    CU_ASSERT_EQUAL(stream_output_write(&capture, fileno(file), bytes, sizeof bytes, &done), 0);
    CU_ASSERT_EQUAL(done, sizeof bytes);
    CU_ASSERT_EQUAL(lseek(fileno(file), 0, SEEK_END), (off_t)sizeof bytes);
    fclose(file);
    CU_ASSERT_FALSE(stream_output_is_closed(ends[1]));
    close(ends[0]);
    CU_ASSERT_TRUE(stream_output_is_closed(ends[1]));
    close(ends[1]);
    end(&capture);
}

static void test_names(void)
{
    CU_ASSERT_TRUE(stream_output_is_named("-"));
    CU_ASSERT_FALSE(stream_output_is_named("-x"));
    CU_ASSERT_FALSE(stream_output_is_named(""));
    CU_ASSERT_FALSE(stream_output_is_named("./-"));
}

static const struct test_case cases[] = {{"a slow reader", test_reader},
                                         {"a reader that closes", test_closed},
                                         {"files, closed pipes", test_file},
                                         {"names", test_names},
                                         {NULL, NULL}};
TEST_SUITE(stream_output, cases)
