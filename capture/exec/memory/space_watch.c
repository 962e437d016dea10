#define _GNU_SOURCE /* syscall */
#include "capture/exec/memory/space_internal.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool set_real(const struct space *space, const struct space_mapping *piece)
{
    return syscall(SYS_mprotect, piece->start, piece->end - piece->start,
                   space_real_protection(space, piece)) == 0;
}

int space_watch(struct space *space, uint64_t start, uint64_t end)
{
    struct space_mapping piece;
    int result = 0;
    pthread_mutex_lock(&space->mutex);
    while (start < end) {
        uint64_t at = start;
        if (!space_table_next(&space->table, &start, end, &piece) || piece.start != at ||
            (piece.flags & SPACE_FOREIGN) || !space_table_reserve(&space->table, 1)) {
            result = -EFAULT;
            break;
        }
        if (piece.flags & SPACE_WATCHED)
            continue;
        piece.flags |= SPACE_WATCHED;
        if ((piece.protection & PROT_WRITE) && !set_real(space, &piece)) {
            result = -EFAULT;
            break;
        }
        space_note_watched(space, &piece);
    }
    pthread_mutex_unlock(&space->mutex);
    return result;
}

bool space_watches_writable(const struct space *space)
{
    return atomic_load_explicit(&space->watches_writable, memory_order_acquire);
}

/* Gives the watched pages of a range that are writable for the program their protection. */
static bool unwatch(struct space *space, uint64_t at, uint64_t end)
{
    bool any = false;
    struct space_mapping piece;
    while (space_table_next(&space->table, &at, end, &piece)) {
        if (!(piece.flags & SPACE_WATCHED) || !(piece.protection & PROT_WRITE) ||
            !space_table_reserve(&space->table, 1))
            continue;
        piece.flags &= ~(uint32_t)SPACE_WATCHED;
        if (!set_real(space, &piece))
            continue;
        space_note(space, &piece);
        any = true;
    }
    return any;
}

void space_before_write(struct space *space, uint64_t address, uint64_t size)
{
    if (address >= SPACE_END || size == 0)
        return;
    uint64_t end = size > SPACE_END - address ? SPACE_END : space_round_up(address + size);
    pthread_mutex_lock(&space->mutex);
    unwatch(space, address & ~(SPACE_PAGE - 1), end);
    pthread_mutex_unlock(&space->mutex);
}

void space_tell_changed(struct space *space, uint64_t at, uint64_t end)
{
    struct space_mapping piece;
    while (space->gone && space_table_next(&space->table, &at, end, &piece))
        if (piece.flags & SPACE_WATCHED)
            space->gone(space->gone_user, piece.start, piece.end);
}

void space_changed(struct space *space, uint64_t address, uint64_t size)
{
    if (address >= SPACE_END || size == 0)
        return;
    uint64_t end = size > SPACE_END - address ? SPACE_END : space_round_up(address + size);
    pthread_mutex_lock(&space->mutex);
    space_tell_changed(space, address & ~(SPACE_PAGE - 1), end);
    pthread_mutex_unlock(&space->mutex);
}

/* An access below a mapping that grows extends it down to the address, as in the kernel: if the
 * guard stays free and the mapping does not exceed the limit of stacks. */
static bool grow(struct space *space, uint64_t page)
{
    size_t above = space_table_search(&space->table, page);
    if (above == space->table.count || !(space->table.mappings[above].flags & SPACE_GROWS))
        return false;
    struct space_mapping grown = space->table.mappings[above];
    uint64_t below = above > 0 ? space->table.mappings[above - 1].end : 0;
    struct rlimit limit;
    if (page >= grown.start || page < below + SPACE_GUARD || page < space->layout.lowest ||
        getrlimit(RLIMIT_STACK, &limit) != 0 || grown.end - page > limit.rlim_cur ||
        !space_table_reserve(&space->table, 1))
        return false;
    grown.end = grown.start;
    grown.start = page;
    grown.flags &= ~(uint32_t)SPACE_WATCHED;
    if (space_map_hole(&grown, space, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) < 0)
        return false;
    space_note(space, &grown);
    return true;
}

enum space_fault space_fault(struct space *space, uint64_t address, uint32_t access)
{
    if (address >= SPACE_END)
        return SPACE_FAULT_PROGRAM;
    uint64_t page = address & ~(SPACE_PAGE - 1);
    enum space_fault answer = SPACE_FAULT_PROGRAM;
    struct space_mapping piece;
    pthread_mutex_lock(&space->mutex);
    uint64_t at = page;
    if (!space_table_next(&space->table, &at, page + SPACE_PAGE, &piece)) {
        if (grow(space, page))
            answer = SPACE_FAULT_FIXED;
    } else if (!(piece.flags & SPACE_FOREIGN) &&
               (space_effective(piece.protection) & access) == access) {
        answer = access == PROT_WRITE && unwatch(space, page, page + SPACE_PAGE)
                     ? SPACE_FAULT_FIXED
                     : SPACE_FAULT_ALLOWED;
    }
    pthread_mutex_unlock(&space->mutex);
    return answer;
}
