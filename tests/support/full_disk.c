#define _GNU_SOURCE /* syscall */
#include "tests/support/full_disk.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool limited;
static size_t left;

void full_disk_begin(size_t room)
{
    pthread_mutex_lock(&mutex);
    limited = true;
    left = room;
    pthread_mutex_unlock(&mutex);
}

void full_disk_end(void)
{
    pthread_mutex_lock(&mutex);
    limited = false;
    pthread_mutex_unlock(&mutex);
}

/* Returns how many of size bytes may be written; the last write before the disk is full is
 * short. */
static size_t allowance(size_t size)
{
    pthread_mutex_lock(&mutex);
    size_t allowed = !limited || size < left ? size : left;
    if (limited)
        left -= allowed;
    pthread_mutex_unlock(&mutex);
    return allowed;
}

/* The allowance of a write; 0, with errno, if the disk is full. */
static size_t room_for(int file, size_t size)
{
    struct stat status;
    bool regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    size_t allowed = regular ? allowance(size) : size;
    if (allowed == 0)
        errno = ENOSPC;
    return allowed;
}

/* These replace the C library's functions in the whole program. */
ssize_t write(int file, const void *bytes, size_t size)
{
    size_t allowed = room_for(file, size);
    return allowed == 0 && size > 0 ? -1 : syscall(SYS_write, file, bytes, allowed);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset)
{
    size_t allowed = room_for(file, size);
    return allowed == 0 && size > 0 ? -1 : syscall(SYS_pwrite64, file, bytes, allowed, offset);
}

int ftruncate(int file, off_t size)
{
    struct stat before;
    bool known = fstat(file, &before) == 0;
    int result = (int)syscall(SYS_ftruncate, file, size);
    pthread_mutex_lock(&mutex);
    if (limited && known && result == 0 && before.st_size > size)
        left += (size_t)(before.st_size - size);
    pthread_mutex_unlock(&mutex);
    return result;
}
