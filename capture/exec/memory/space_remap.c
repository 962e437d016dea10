#define _GNU_SOURCE /* MREMAP_*, syscall */
#include "capture/exec/memory/space_internal.h"

#include <errno.h>
#include <linux/mman.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SHM_EXEC
#define SHM_EXEC 0100000 /* linux/shm.h, which conflicts with sys/shm.h */
#endif

/* A checked request of mremap: old is part of one mapping; sizes are multiples of a page. */
struct move {
    struct space_mapping old;
    uint64_t old_size; /* 0: make a second mapping of shared memory */
    uint64_t new_size;
    uint64_t flags;
};

static int64_t remap(const struct move *move, uint64_t flags, uint64_t to)
{
    return space_result(
        syscall(SYS_mremap, move->old.start, move->old_size, move->new_size, flags, to));
}

/* Truncates or grows a mapping in place. */
static int64_t resize(struct space *space, const struct move *move)
{
    uint64_t old_end = move->old.start + move->old_size;
    uint64_t new_end = move->old.start + move->new_size;
    if (new_end > SPACE_END ||
        (new_end > old_end && space_table_overlaps(&space->table, old_end, new_end, 0)))
        return -ENOMEM;
    int64_t result = remap(move, 0, 0);
    if (result < 0)
        return result;
    struct space_mapping more = move->old;
    more.start = old_end;
    more.end = new_end;
    if (new_end > old_end)
        space_note(space, &more);
    else
        space_note_gone(space, new_end, old_end);
    return result;
}

/* Moves to a range whose mappings of the program may be replaced. */
static int64_t move_to(struct space *space, const struct move *move, uint64_t to)
{
    uint64_t kept = move->flags & MREMAP_DONTUNMAP;
    int64_t result = remap(move, MREMAP_MAYMOVE | MREMAP_FIXED | kept, to);
    if (result < 0) { /* the range may have been unmapped nevertheless */
        space_note_lost(space, 0, SPACE_END);
        return result;
    }
    struct space_mapping moved = move->old;
    moved.start = to;
    moved.end = to + move->new_size;
    if (move->old_size && !kept)
        space_note_gone(space, move->old.start, move->old.start + move->old_size);
    space_note(space, &moved);
    return result;
}

/* Moves to a hole, which is reserved first to detect foreign mappings. */
static int64_t move_anywhere(struct space *space, const struct move *move)
{
    for (;;) {
        uint64_t to = space_hole(space, move->new_size, SPACE_PAGE, 0);
        if (to == 0)
            return space_refuse(space);
        struct space_mapping hole = {
            .start = to, .end = to + move->new_size, .protection = PROT_NONE, .flags = 0};
        int64_t result =
            space_map_hole(&hole, space, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (result == -EEXIST && space_note_foreign(space, NULL) &&
            space_table_reserve(&space->table, 4))
            continue;
        if (result < 0)
            return result == -EEXIST ? -ENOMEM : result;
        result = move_to(space, move, to);
        if (result < 0)
            syscall(SYS_munmap, hole.start, move->new_size);
        return result;
    }
}

/* Fills in the old mapping, which must be a single one, and removes its watches: its code moves,
 * and the kernel must see pages with equal protections. */
static int64_t find_old(struct space *space, struct move *move, uint64_t address)
{
    uint64_t size = move->old_size ? move->old_size : SPACE_PAGE;
    if (address >= SPACE_END || size > SPACE_END - address)
        return -EFAULT;
    struct space_mapping piece;
    for (uint64_t at = address; at < address + size;) {
        uint64_t start = at;
        if (!space_table_next(&space->table, &at, address + size, &piece) || piece.start != start ||
            (piece.flags & SPACE_FOREIGN))
            return -EFAULT;
        bool watched = piece.flags & SPACE_WATCHED;
        piece.flags &= ~(uint32_t)SPACE_WATCHED;
        if (start != address &&
            (piece.protection != move->old.protection || piece.flags != move->old.flags))
            return -EFAULT;
        move->old = piece;
        if (!watched)
            continue;
        if (!space_table_reserve(&space->table, 1))
            return -ENOMEM;
        int64_t result = space_result(syscall(SYS_mprotect, piece.start, piece.end - piece.start,
                                              space_real_protection(space, &piece)));
        if (result < 0)
            return result;
        space_note(space, &piece);
    }
    move->old.start = address;
    move->old.end = address + size;
    return 0;
}

static int64_t move_fixed(struct space *space, const struct move *move, uint64_t to)
{
    if (to % SPACE_PAGE != 0)
        return -EINVAL;
    if (to >= SPACE_END || move->new_size > SPACE_END - to)
        return space_refuse(space);
    uint64_t end = to + move->new_size;
    if (to < move->old.start + move->old_size && move->old.start < end)
        return -EINVAL;
    if (space_table_overlaps(&space->table, to, end, SPACE_FOREIGN))
        return space_refuse(space);
    int64_t result = space_take_holes(space, to, end);
    if (result < 0)
        return result == -EEXIST ? space_refuse(space) : result;
    result = move_to(space, move, to);
    if (result < 0)
        space_release_holes(space, to, end);
    return result;
}

int64_t space_mremap(struct space *space, uint64_t old_address, uint64_t old_length,
                     uint64_t new_length, uint64_t flags, uint64_t new_address)
{
    struct move move = {.old_size = space_round_up(old_length),
                        .new_size = space_round_up(new_length),
                        .flags = flags};
    const uint64_t known = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
    bool moves = flags & MREMAP_MAYMOVE;
    if ((flags & ~known) || old_address % SPACE_PAGE != 0 || move.new_size == 0 ||
        ((flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) && !moves) ||
        ((flags & MREMAP_DONTUNMAP) && move.old_size != move.new_size) ||
        (move.old_size == 0 && (old_length != 0 || !moves)))
        return -EINVAL;
    pthread_mutex_lock(&space->mutex);
    int64_t result;
    if (move.new_size > SPACE_END)
        result = space_refuse(space);
    else
        result = find_old(space, &move, old_address);
    if (result == 0 && (!space_table_reserve(&space->table, 4) ||
                        (move.new_size > move.old_size &&
                         !space_may_grow(space, &move.old, move.new_size - move.old_size))))
        result = -ENOMEM;
    if (result < 0)
        goto out;
    if (flags & MREMAP_FIXED) {
        result = move_fixed(space, &move, new_address);
    } else if (flags & MREMAP_DONTUNMAP || move.old_size == 0) {
        result = move_anywhere(space, &move);
    } else {
        result = resize(space, &move);
        if (result == -ENOMEM && moves && move.new_size > move.old_size)
            result = move_anywhere(space, &move);
    }
out:
    pthread_mutex_unlock(&space->mutex);
    return result;
}

/* --- shared segments of System V --- */

/* With the lock held. The address for a segment of a size; 0: there is none. */
static uint64_t segment_place(const struct space *space, uint64_t size, uint64_t address,
                              uint64_t flags)
{
    if (address == 0)
        return space_hole(space, size, SPACE_PAGE, 0);
    if (flags & SHM_RND)
        address &= ~(SPACE_PAGE - 1);
    uint32_t in_the_way = flags & SHM_REMAP ? SPACE_FOREIGN : 0;
    if (address % SPACE_PAGE != 0 || address >= SPACE_END || size > SPACE_END - address ||
        space_table_overlaps(&space->table, address, address + size, in_the_way))
        return 0;
    return address;
}

int64_t space_shmat(struct space *space, int segment, uint64_t address, uint64_t flags)
{
    struct shmid_ds status;
    if (syscall(SYS_shmctl, segment, IPC_STAT, &status) < 0)
        return -errno;
    if (status.shm_segsz > SPACE_END)
        return -ENOMEM;
    uint64_t size = space_round_up(status.shm_segsz);
    uint64_t real = flags;
    if (space->execution == SPACE_TRANSLATED)
        real &= ~(uint64_t)SHM_EXEC;
    int64_t result = -ENOMEM;
    pthread_mutex_lock(&space->mutex);
    uint64_t start = segment_place(space, size, address, flags);
    const struct space_mapping shared = {.flags = SPACE_SHARED};
    if (start == 0 && address != 0)
        result = -EINVAL;
    else if (start != 0 && space_may_grow(space, &shared, size) &&
             space_table_reserve(&space->table, 1))
        result = space_result(syscall(SYS_shmat, segment, start, real));
    if (result >= 0) {
        struct space_mapping mapping = {
            .start = start,
            .end = start + size,
            .protection = space_demanded(space, PROT_READ | (flags & SHM_RDONLY ? 0u : PROT_WRITE) |
                                                    (flags & SHM_EXEC ? PROT_EXEC : 0u)),
            .flags = SPACE_SHARED};
        space_note(space, &mapping);
    }
    pthread_mutex_unlock(&space->mutex);
    return result;
}

int64_t space_shmdt(struct space *space, uint64_t address)
{
    if (address >= SPACE_END)
        return -EINVAL;
    pthread_mutex_lock(&space->mutex);
    int64_t result = space_result(syscall(SYS_shmdt, address));
    if (result == 0)
        space_note_lost(space, address, SPACE_END);
    pthread_mutex_unlock(&space->mutex);
    return result;
}
