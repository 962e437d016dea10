#define _GNU_SOURCE /* memfd_create */
#include "tests/support/files.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct test_path {
    int file;
    int write_end;
    bool pipe;
    pthread_t writer;
    uint8_t *bytes;
    size_t size;
    char name[64];
};

static void must(bool good)
{
    if (!good) {
        perror("test support");
        abort();
    }
}

struct test_path *test_path_file(const void *bytes, size_t size)
{
    struct test_path *path = calloc(1, sizeof *path);
    must(path != NULL);
    path->file = memfd_create("bustap-test", MFD_CLOEXEC);
    must(path->file >= 0 && write(path->file, bytes, size) == (ssize_t)size);
    snprintf(path->name, sizeof path->name, "/proc/self/fd/%d", path->file);
    return path;
}

static void *write_pipe(void *argument)
{
    struct test_path *path = argument;
    for (size_t at = 0; at < path->size;) {
        ssize_t written = write(path->write_end, path->bytes + at, path->size - at);
        if (written <= 0)
            break; /* the reader has read enough */
        at += (size_t)written;
    }
    close(path->write_end);
    return NULL;
}

struct test_path *test_path_pipe(const void *bytes, size_t size)
{
    struct test_path *path = calloc(1, sizeof *path);
    int ends[2];
    must(path != NULL && pipe(ends) == 0);
    signal(SIGPIPE, SIG_IGN);
    path->pipe = true;
    path->file = ends[0];
    path->write_end = ends[1];
    path->bytes = malloc(size + 1);
    path->size = size;
    must(path->bytes != NULL);
    if (size > 0)
        memcpy(path->bytes, bytes, size);
    must(pthread_create(&path->writer, NULL, write_pipe, path) == 0);
    snprintf(path->name, sizeof path->name, "/proc/self/fd/%d", path->file);
    return path;
}

const char *test_path_name(const struct test_path *path)
{
    return path->name;
}

void test_path_free(struct test_path *path)
{
    close(path->file);
    if (path->pipe)
        pthread_join(path->writer, NULL);
    free(path->bytes);
    free(path);
}
