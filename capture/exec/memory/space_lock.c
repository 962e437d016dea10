#define _GNU_SOURCE /* MAP_LOCKED, mlock2's number */
/* mlockall(2) and munlockall(2) for the program's mappings only: the translator's mappings are much
 * larger and would count against the limit. */
#include "capture/exec/memory/space_internal.h"

#include <errno.h>
#include <linux/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The next range to lock, as space_table_next(); of the first stack the used part. */
static bool next(const struct space *space, uint64_t *at, struct space_mapping *piece)
{
    do
        if (!space_table_next(&space->table, at, SPACE_END, piece))
            return false;
    while (piece->flags & SPACE_FOREIGN);
    if ((piece->flags & SPACE_STACK) && piece->end - piece->start > SPACE_STACK_USED)
        piece->start = piece->end - SPACE_STACK_USED;
    return true;
}

static void unlock(struct space *space)
{
    struct space_mapping piece;
    for (uint64_t at = 0; next(space, &at, &piece);)
        syscall(SYS_munlock, piece.start, piece.end - piece.start);
}

/* Unreadable pages cannot be locked, which is not an error. */
static int64_t lock(struct space *space, bool on_fault)
{
    struct space_mapping piece;
    for (uint64_t at = 0; next(space, &at, &piece);) {
        uint64_t size = piece.end - piece.start;
        int64_t result = space_result(syscall(SYS_mlock2, piece.start, size, MLOCK_ONFAULT));
        if (result < 0) {
            unlock(space);
            return result;
        }
        if (!on_fault)
            syscall(SYS_mlock, piece.start, size);
    }
    return 0;
}

int64_t space_mlockall(struct space *space, uint64_t flags)
{
    if (flags == 0 || flags == MCL_ONFAULT ||
        (flags & ~(uint64_t)(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)))
        return -EINVAL;
    pthread_mutex_lock(&space->mutex);
    int64_t result = flags & MCL_CURRENT ? lock(space, flags & MCL_ONFAULT) : 0;
    if (result == 0)
        space->locked = flags & MCL_FUTURE ? MAP_LOCKED : 0;
    pthread_mutex_unlock(&space->mutex);
    return result;
}

int64_t space_munlockall(struct space *space)
{
    pthread_mutex_lock(&space->mutex);
    unlock(space);
    space->locked = 0;
    pthread_mutex_unlock(&space->mutex);
    return 0;
}
