#define _GNU_SOURCE /* MAP_*, syscall */
#include "capture/exec/memory/space_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mman.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ADDRESS_MAX   ((uint64_t)1 << 47) /* of programs with 47-bit addresses */
#define GUARD_INSTALL 102                 /* MADV_, of Linux 6.13 */
#define LOW_END       ((uint64_t)1 << 31) /* MAP_32BIT means 31 */

/* A request of mmap. */
struct demand {
    struct space_mapping mapping; /* start 0: any address */
    uint64_t alignment;
    uint64_t limit; /* 0: none */
    int flags;      /* for the kernel, without those for the address */
    int file;
    uint64_t offset;
};

/* Maps over a range that is mapped, all of it by the program or as space_take_holes(). */
static int64_t map_over(struct space *space, const struct demand *demand)
{
    const struct space_mapping *mapping = &demand->mapping;
    int64_t result = space_result(syscall(SYS_mmap, mapping->start, mapping->end - mapping->start,
                                          space_real_protection(space, mapping),
                                          demand->flags | MAP_FIXED, demand->file, demand->offset));
    if (result < 0) { /* some kernels have unmapped the range already */
        space_release_holes(space, mapping->start, mapping->end);
        space_note_lost(space, mapping->start, mapping->end);
    }
    return result;
}

/* Maps into a hole. MAP_SHARED_VALIDATE rejects the flag that spares foreign mappings, so that the
 * hole is taken first. */
static int64_t map_into_hole(struct space *space, const struct demand *demand)
{
    const struct space_mapping *mapping = &demand->mapping;
    if ((demand->flags & MAP_TYPE) != MAP_SHARED_VALIDATE || (demand->flags & MAP_ANONYMOUS))
        return space_map_hole(mapping, space, demand->flags, demand->file, demand->offset);
    const struct space_mapping hole = {.start = mapping->start, .end = mapping->end};
    int64_t result = space_map_hole(&hole, space, SPACE_HOLE_FLAGS, -1, 0);
    return result < 0 ? result : map_over(space, demand);
}

/* Maps over a range with mappings of the program, which are replaced. */
static int64_t map_mixed(struct space *space, const struct demand *demand)
{
    int64_t result = space_take_holes(space, demand->mapping.start, demand->mapping.end);
    return result < 0 ? result : map_over(space, demand);
}

static int64_t map_fixed(struct space *space, const struct demand *demand, bool replace)
{
    const struct space_mapping *mapping = &demand->mapping;
    if (mapping->start % SPACE_PAGE != 0)
        return -EINVAL;
    if (mapping->start >= SPACE_END || mapping->end > SPACE_END)
        return space_refuse(space);
    if (space_table_overlaps(&space->table, mapping->start, mapping->end, SPACE_FOREIGN))
        return replace ? space_refuse(space) : -EEXIST;
    bool taken = space_table_overlaps(&space->table, mapping->start, mapping->end, 0);
    if (taken && !replace)
        return -EEXIST;
    int64_t result =
        taken     ? map_mixed(space, demand)
        : replace ? map_into_hole(space, demand)
                  : space_map_hole(mapping, space, demand->flags, demand->file, demand->offset);
    if (result == -EEXIST) {
        space_note_foreign(space, NULL);
        return replace ? space_refuse(space) : -EEXIST;
    }
    if (result >= 0)
        space_note(space, mapping);
    return result;
}

/* Maps at the hint if there is room, else at any free address. Foreign mappings that are in the way
 * are recorded, and the search continues. */
static int64_t map_anywhere(struct space *space, struct demand *demand)
{
    struct space_mapping *mapping = &demand->mapping;
    uint64_t size = mapping->end - mapping->start;
    uint64_t hint = mapping->start & ~(demand->alignment - 1);
    for (;;) {
        bool good = hint >= space->layout.lowest && hint < SPACE_END && size <= SPACE_END - hint &&
                    !space_table_overlaps(&space->table, hint, hint + size, 0);
        mapping->start = good ? hint : space_hole(space, size, demand->alignment, demand->limit);
        mapping->end = mapping->start + size;
        if (mapping->start == 0)
            return space_refuse(space);
        int64_t result = map_into_hole(space, demand);
        if (result >= 0)
            space_note(space, mapping);
        if (result != -EEXIST || !space_note_foreign(space, NULL) ||
            !space_table_reserve(&space->table, 1))
            return result == -EEXIST ? -ENOMEM : result;
    }
}

static uint64_t huge_page_size(uint64_t flags)
{
    uint64_t shift = (flags >> MAP_HUGE_SHIFT) & MAP_HUGE_MASK;
    return (uint64_t)1 << (shift ? shift : 21);
}

static bool is_private_file(const struct demand *demand, uint64_t flags)
{
    return (flags & MAP_TYPE) == MAP_PRIVATE && !(flags & MAP_ANONYMOUS) && demand->file >= 0;
}

/* Whether the program's limits allow the request. */
static bool is_allowed(const struct space *space, const struct demand *demand, uint64_t flags)
{
    const struct space_mapping *mapping = &demand->mapping;
    uint64_t replaced = flags & MAP_FIXED ? space_bytes(space, mapping->start, mapping->end) : 0;
    return space_may_grow(space, mapping, mapping->end - mapping->start - replaced);
}

/* Fills in the request. 0 or a negative errno. */
static int64_t understand(const struct space *space, struct demand *demand, uint64_t address,
                          uint64_t length, uint64_t protection, uint64_t flags)
{
    bool huge = (flags & MAP_HUGETLB) && (flags & MAP_ANONYMOUS);
    demand->alignment = huge ? huge_page_size(flags) : SPACE_PAGE;
    demand->limit = flags & MAP_32BIT ? LOW_END : 0;
    demand->flags = space->locked | (int)(flags & 0xffffffff &
                                          ~(uint64_t)(MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT));
    uint32_t type = flags & MAP_TYPE;
    /* space_fault() grows such a mapping, because the table must be updated; the kernel refuses
     * all others */
    if (type == MAP_PRIVATE && (flags & MAP_ANONYMOUS))
        demand->flags &= ~MAP_GROWSDOWN;
    if (!(flags & MAP_ANONYMOUS) && fcntl(demand->file, F_GETFD) < 0)
        return -EBADF;
    if (length == 0)
        return -EINVAL;
    if (length > SPACE_END || demand->alignment > SPACE_END || address > UINT64_MAX / 2)
        return -ENOMEM;
    uint64_t size = (length + demand->alignment - 1) & ~(demand->alignment - 1);
    demand->mapping = (struct space_mapping){
        .start = address,
        .end = address + size,
        .protection = space_demanded(space, protection),
        .flags =
            (type != MAP_PRIVATE ? SPACE_SHARED : 0u) | (flags & MAP_GROWSDOWN ? SPACE_GROWS : 0u),
    };
    if (is_private_file(demand, flags) && space_file_shows_writes(space, demand->file))
        demand->mapping.flags |= SPACE_SHARED;
    return 0;
}

int64_t space_mmap(struct space *space, uint64_t address, uint64_t length, uint64_t protection,
                   uint64_t flags, int file, uint64_t offset)
{
    struct demand demand = {.file = file, .offset = offset};
    pthread_mutex_lock(&space->mutex);
    int64_t result = understand(space, &demand, address, length, protection, flags);
    if (result == -ENOMEM || (result == 0 && !space_table_reserve(&space->table, 1)))
        result = space_refuse(space);
    else if (result == 0 && !is_allowed(space, &demand, flags))
        result = -ENOMEM;
    else if (result == 0 && (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)))
        result = map_fixed(space, &demand, !(flags & MAP_FIXED_NOREPLACE));
    else if (result == 0)
        result = map_anywhere(space, &demand);
    if (result >= 0 && is_private_file(&demand, flags))
        space_file_mapped(space, &demand.mapping, file);
    pthread_mutex_unlock(&space->mutex);
    return result;
}

/* With the lock held. */
static int64_t unmap(struct space *space, uint64_t at, uint64_t end)
{
    struct space_mapping piece;
    while (space_table_next(&space->table, &at, end, &piece)) {
        if (piece.flags & SPACE_FOREIGN)
            continue;
        if (!space_table_reserve(&space->table, 1))
            return -ENOMEM;
        int64_t result = space_result(syscall(SYS_munmap, piece.start, piece.end - piece.start));
        if (result < 0)
            return result;
        space_note_gone(space, piece.start, piece.end);
    }
    return 0;
}

int64_t space_munmap(struct space *space, uint64_t address, uint64_t length)
{
    if (address % SPACE_PAGE != 0 || length == 0 || address > ADDRESS_MAX ||
        length > ADDRESS_MAX - address)
        return -EINVAL;
    uint64_t end = space_round_up(address + length);
    pthread_mutex_lock(&space->mutex);
    int64_t result = unmap(space, address, end < SPACE_END ? end : SPACE_END);
    pthread_mutex_unlock(&space->mutex);
    return result;
}

/* With the lock held. Changes mappings up to the first hole, as the kernel does. */
static int64_t protect(struct space *space, uint64_t start, uint64_t end, uint32_t protection)
{
    struct space_mapping piece;
    while (start < end) {
        uint64_t at = start;
        if (!space_table_next(&space->table, &start, end, &piece) || piece.start != at ||
            (piece.flags & SPACE_FOREIGN) || !space_table_reserve(&space->table, 1))
            return -ENOMEM;
        bool was_writable = piece.protection & PROT_WRITE;
        piece.protection = protection;
        if (!was_writable && !space_may_have_data(space, &piece, piece.end - piece.start))
            return -ENOMEM;
        if (!(protection & PROT_EXEC))
            piece.flags &= ~(uint32_t)SPACE_WATCHED;
        int64_t result = space_result(syscall(SYS_mprotect, piece.start, piece.end - piece.start,
                                              space_real_protection(space, &piece)));
        if (result < 0)
            return result;
        space_note(space, &piece);
    }
    return 0;
}

/* The start of the growing mapping at the address: PROT_GROWSDOWN extends the range down to it. */
static int64_t growing_start(const struct space *space, uint64_t *address, uint64_t end)
{
    size_t found = space_table_search(&space->table, *address);
    if (found == space->table.count || space->table.mappings[found].start >= end)
        return -ENOMEM;
    if (!(space->table.mappings[found].flags & SPACE_GROWS))
        return -EINVAL;
    *address = space->table.mappings[found].start;
    return 0;
}

int64_t space_mprotect(struct space *space, uint64_t address, uint64_t length, uint64_t protection)
{
    const uint64_t rights = PROT_READ | PROT_WRITE | PROT_EXEC;
    uint64_t grows = protection & (PROT_GROWSDOWN | PROT_GROWSUP);
    if (grows == (PROT_GROWSDOWN | PROT_GROWSUP) || address % SPACE_PAGE != 0)
        return -EINVAL;
    if (length == 0)
        return 0;
    if (space_round_up(length) == 0 || address > UINT64_MAX - space_round_up(length))
        return -ENOMEM;
    if (protection & ~(rights | PROT_SEM | PROT_GROWSDOWN | PROT_GROWSUP))
        return -EINVAL;
    uint64_t end = address + space_round_up(length);
    if (address >= SPACE_END)
        return -ENOMEM;
    pthread_mutex_lock(&space->mutex);
    int64_t result = 0;
    if (grows == PROT_GROWSUP)
        result = -EINVAL;
    else if (grows)
        result = growing_start(space, &address, end);
    if (result == 0)
        result = protect(space, address, end, space_demanded(space, protection));
    pthread_mutex_unlock(&space->mutex);
    return result;
}

/* --- brk --- */

/* With the lock held. Moves the break from one page boundary to another; false: impossible. */
static bool move_break(struct space *space, uint64_t from, uint64_t to)
{
    if (to <= from)
        return unmap(space, to, from) == 0;
    struct space_mapping mapping = {.start = from,
                                    .end = to,
                                    .protection = space_demanded(space, PROT_READ | PROT_WRITE),
                                    .flags = SPACE_HEAP};
    if (to > space->layout.break_end || !space_table_reserve(&space->table, 1) ||
        to - space->break_start > space->limits.data ||
        !space_may_grow(space, &mapping, to - from) ||
        space_table_overlaps(&space->table, from, to, 0) ||
        space_map_hole(&mapping, space, MAP_PRIVATE | MAP_ANONYMOUS | space->locked, -1, 0) < 0)
        return false;
    space_note(space, &mapping);
    return true;
}

int64_t space_brk(struct space *space, uint64_t address)
{
    pthread_mutex_lock(&space->mutex);
    if (address >= space->break_start && address <= space->layout.break_end &&
        move_break(space, space_round_up(space->break_now), space_round_up(address)))
        space->break_now = address;
    int64_t result = (int64_t)space->break_now;
    pthread_mutex_unlock(&space->mutex);
    return result;
}

/* --- madvise --- */

static bool throws_away(uint64_t advice)
{
    return advice == MADV_DONTNEED || advice == MADV_REMOVE || advice == MADV_FREE ||
           advice == MADV_DONTNEED_LOCKED || advice == GUARD_INSTALL;
}

static bool is_for_children(uint64_t advice)
{
    return advice == MADV_DONTFORK || advice == MADV_WIPEONFORK;
}

int64_t space_madvise(struct space *space, uint64_t address, uint64_t length, uint64_t advice)
{
    uint64_t size = space_round_up(length);
    if (address % SPACE_PAGE != 0 || (length != 0 && size == 0) || address > UINT64_MAX - size)
        return -EINVAL;
    if (address >= SPACE_END || size > SPACE_END - address)
        return size ? -ENOMEM : 0;
    if (advice == MADV_POPULATE_WRITE)
        space_before_write(space, address, size);
    pthread_mutex_lock(&space->mutex);
    int64_t result = -ENOMEM;
    if (!space_table_overlaps(&space->table, address, address + size, SPACE_FOREIGN))
        result = space_result(syscall(SYS_madvise, address, length, advice));
    if (is_for_children(advice))
        space->forks_less = true;
    if (throws_away(advice))
        space_tell_changed(space, address, address + size);
    pthread_mutex_unlock(&space->mutex);
    return result;
}
