#define _GNU_SOURCE /* MAP_FIXED_NOREPLACE, syscall */
#include "capture/exec/memory/space_internal.h"

#include "capture/exec/memory/maps.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

const struct space_layout space_layout_default = {
    .lowest = 0x10000,
    .image = 0x10000000,
    .break_end = 0x40000000,
    .map_end = 0xef000000,
    .stack_end = 0xff000000,
};

int64_t space_result(long result)
{
    return result == -1 ? -errno : result;
}

struct space *space_new(const struct space_layout *layout, enum space_execution execution,
                        struct bt_error *error)
{
    struct space *space = calloc(1, sizeof *space);
    if (!space) {
        bt_fail(error, BT_MEMORY, "no memory for a program's table of mappings");
        return NULL;
    }
    space->layout = *layout;
    space->execution = execution;
    space->limits = (struct space_limits){.all = UINT64_MAX, .data = UINT64_MAX};
    pthread_mutex_init(&space->mutex, NULL);
    struct bt_error trouble = {0, ""};
    if (!space_note_foreign(space, &trouble) && trouble.code < 0) {
        bt_fail(error, trouble.code, "%s", trouble.message);
        space_free(space);
        return NULL;
    }
    return space;
}

void space_free(struct space *space)
{
    if (!space)
        return;
    uint64_t at = 0;
    struct space_mapping piece;
    while (space_table_next(&space->table, &at, SPACE_END, &piece))
        if (!(piece.flags & SPACE_FOREIGN))
            syscall(SYS_munmap, piece.start, piece.end - piece.start);
    space_table_free(&space->table);
    free(space->files);
    pthread_mutex_destroy(&space->mutex);
    free(space);
}

const struct space_layout *space_layout_of(const struct space *space)
{
    return &space->layout;
}

void space_set_listener(struct space *space, void (*gone)(void *user, uint64_t start, uint64_t end),
                        void *user)
{
    pthread_mutex_lock(&space->mutex);
    space->gone = gone;
    space->gone_user = user;
    pthread_mutex_unlock(&space->mutex);
}

/* --- the table of mappings --- */

int space_real_protection(const struct space *space, const struct space_mapping *mapping)
{
    uint32_t protection = mapping->protection;
    if (protection & PROT_EXEC) {
        protection |= PROT_READ; /* the translator reads; protection keys could forbid it */
        if (space->execution == SPACE_TRANSLATED)
            protection &= ~(uint32_t)PROT_EXEC;
    }
    if (mapping->flags & SPACE_WATCHED) /* writable implies readable */
        protection = space_effective(protection) & ~(uint32_t)PROT_WRITE;
    return (int)protection;
}

static void tell_gone(const struct space *space, uint64_t start, uint64_t end)
{
    if (space->gone)
        space->gone(space->gone_user, start, end);
}

/* The listener is called after the table has changed, with the pages watched before. */
static void change(struct space *space, const struct space_mapping *mapping, bool hole)
{
    uint64_t first = 0;
    uint64_t last = 0;
    struct space_mapping piece;
    for (uint64_t at = mapping->start; space_table_next(&space->table, &at, mapping->end, &piece);)
        if (piece.flags & SPACE_WATCHED) {
            first = last ? first : piece.start;
            last = piece.end;
        }
    if (hole)
        space_table_clear(&space->table, mapping->start, mapping->end);
    else
        space_table_set(&space->table, mapping);
    if (last && (hole || !(mapping->flags & SPACE_WATCHED)))
        tell_gone(space, first, last);
}

void space_note_watched(struct space *space, const struct space_mapping *mapping)
{
    if ((mapping->flags & SPACE_WATCHED) && (mapping->protection & PROT_WRITE))
        atomic_store(&space->watches_writable, true);
    change(space, mapping, false);
}

void space_note(struct space *space, const struct space_mapping *mapping)
{
    atomic_fetch_add(&space->changes, 1);
    space_note_watched(space, mapping);
}

void space_note_gone(struct space *space, uint64_t start, uint64_t end)
{
    atomic_fetch_add(&space->changes, 1);
    struct space_mapping hole = {.start = start, .end = end, .protection = 0, .flags = 0};
    change(space, &hole, true);
}

unsigned space_changes(const struct space *space)
{
    return atomic_load(&space->changes);
}

/* Records the parts of a line that are in holes of the table as foreign. */
static bool note_line(struct space *space, const struct maps_line *line)
{
    bool found = false;
    uint64_t end = line->end < SPACE_END ? line->end : SPACE_END;
    for (uint64_t at = line->start; at < end;) {
        struct space_mapping piece;
        uint64_t next = at;
        bool any = space_table_next(&space->table, &next, end, &piece);
        struct space_mapping foreign = {.start = at,
                                        .end = any ? piece.start : end,
                                        .protection = line->protection,
                                        .flags = SPACE_FOREIGN};
        if (foreign.start < foreign.end) {
            if (!space_table_reserve(&space->table, 1))
                return found;
            space_table_set(&space->table, &foreign);
            found = true;
        }
        at = any ? piece.end : end;
    }
    return found;
}

bool space_note_foreign(struct space *space, struct bt_error *error)
{
    bool found = false;
    struct maps_line line;
    struct maps *maps = maps_open(error);
    if (!maps)
        return false;
    while (maps_next(maps, &line, error) > 0 && line.start < SPACE_END)
        found |= note_line(space, &line);
    maps_close(maps);
    return found;
}

static void note_hole(struct space *space, uint64_t at, uint64_t end)
{
    struct space_mapping piece;
    while (space_table_next(&space->table, &at, end, &piece))
        if (!(piece.flags & SPACE_FOREIGN) && space_table_reserve(&space->table, 1))
            space_note_gone(space, piece.start, piece.end);
}

void space_note_lost(struct space *space, uint64_t start, uint64_t end)
{
    struct maps_line line;
    struct maps *maps = maps_open(NULL);
    if (!maps)
        return;
    int more;
    while (start < end && (more = maps_next(maps, &line, NULL)) > 0) {
        note_hole(space, start, line.start < end ? line.start : end);
        if (line.end > start)
            start = line.end;
    }
    maps_close(maps);
}

int64_t space_refuse(struct space *space)
{
    space->refused++;
    return -ENOMEM;
}

int64_t space_map_hole(const struct space_mapping *mapping, const struct space *space, int flags,
                       int file, uint64_t offset)
{
    uint64_t size = mapping->end - mapping->start;
    int64_t result =
        space_result(syscall(SYS_mmap, mapping->start, size, space_real_protection(space, mapping),
                             flags | MAP_FIXED_NOREPLACE, file, offset));
    if (result < 0 || (uint64_t)result == mapping->start)
        return result;
    syscall(SYS_munmap, result, size); /* this kernel ignores MAP_FIXED_NOREPLACE */
    return -EEXIST;
}

void space_release_holes(struct space *space, uint64_t start, uint64_t end)
{
    struct space_mapping hole;
    while (space_table_next_hole(&space->table, &start, end, &hole))
        syscall(SYS_munmap, hole.start, hole.end - hole.start);
}

int64_t space_take_holes(struct space *space, uint64_t start, uint64_t end)
{
    struct space_mapping hole;
    for (uint64_t at = start; space_table_next_hole(&space->table, &at, end, &hole);) {
        int64_t result = space_map_hole(&hole, space, SPACE_HOLE_FLAGS, -1, 0);
        if (result >= 0)
            continue;
        space_release_holes(space, start, hole.start);
        if (result == -EEXIST)
            space_note_foreign(space, NULL);
        return result;
    }
    return 0;
}

uint64_t space_hole(const struct space *space, uint64_t size, uint64_t alignment, uint64_t limit)
{
    const struct space_layout *layout = &space->layout;
    uint64_t high = limit && limit < layout->map_end ? limit : layout->map_end;
    uint64_t start = 0;
    if (high > layout->break_end) /* prefer memory that brk cannot grow into */
        start = space_table_find_free(&space->table, layout->break_end, high, size, alignment);
    return start ? start
                 : space_table_find_free(&space->table, layout->lowest, high, size, alignment);
}

/* --- queries --- */

bool space_find(struct space *space, uint64_t address, struct space_mapping *mapping)
{
    pthread_mutex_lock(&space->mutex);
    size_t found = space_table_search(&space->table, address);
    bool there = found < space->table.count && space->table.mappings[found].start <= address &&
                 !(space->table.mappings[found].flags & SPACE_FOREIGN);
    if (there)
        *mapping = space->table.mappings[found];
    pthread_mutex_unlock(&space->mutex);
    return there;
}

bool space_next(struct space *space, uint64_t *at, uint64_t end, struct space_mapping *piece)
{
    bool found;
    pthread_mutex_lock(&space->mutex);
    do
        found = space_table_next(&space->table, at, end, piece);
    while (found && (piece->flags & SPACE_FOREIGN));
    pthread_mutex_unlock(&space->mutex);
    return found;
}

/* With the lock held. */
static bool allows(const struct space *space, uint64_t at, uint64_t end, uint32_t protection)
{
    struct space_mapping piece;
    while (at < end) {
        uint64_t start = at;
        if (!space_table_next(&space->table, &at, end, &piece) || piece.start != start ||
            (piece.flags & SPACE_FOREIGN) ||
            (space_effective(piece.protection) & protection) != protection)
            return false;
    }
    return true;
}

bool space_allows(struct space *space, uint64_t address, uint64_t size, uint32_t protection)
{
    if (address > SPACE_END || size > SPACE_END - address)
        return false;
    pthread_mutex_lock(&space->mutex);
    bool allowed = allows(space, address, address + size, protection);
    pthread_mutex_unlock(&space->mutex);
    return allowed;
}

uint64_t space_refused(struct space *space)
{
    pthread_mutex_lock(&space->mutex);
    uint64_t refused = space->refused;
    pthread_mutex_unlock(&space->mutex);
    return refused;
}

void space_set_reading_executes(struct space *space, bool executes)
{
    pthread_mutex_lock(&space->mutex);
    space->reading_executes = executes;
    pthread_mutex_unlock(&space->mutex);
}

bool space_reading_executes(struct space *space)
{
    pthread_mutex_lock(&space->mutex);
    bool executes = space->reading_executes;
    pthread_mutex_unlock(&space->mutex);
    return executes;
}

void space_forked(struct space *space)
{
    pthread_mutex_lock(&space->mutex);
    space->locked = 0;
    if (space->forks_less) {
        space_note_lost(space, 0, SPACE_END);
        space_tell_changed(space, 0, SPACE_END);
    }
    pthread_mutex_unlock(&space->mutex);
}

/* --- for the loader --- */

void space_set_break(struct space *space, uint64_t start)
{
    pthread_mutex_lock(&space->mutex);
    space->break_start = start;
    space->break_now = start;
    pthread_mutex_unlock(&space->mutex);
}

uint64_t space_find_free(struct space *space, uint64_t size)
{
    pthread_mutex_lock(&space->mutex);
    uint64_t start = space_hole(space, space_round_up(size), SPACE_PAGE, 0);
    pthread_mutex_unlock(&space->mutex);
    return start;
}

void space_name(struct space *space, uint64_t start, uint64_t end, uint32_t flags)
{
    struct space_mapping piece;
    pthread_mutex_lock(&space->mutex);
    while (space_table_next(&space->table, &start, end, &piece)) {
        piece.flags |= flags & (SPACE_HEAP | SPACE_STACK | SPACE_GROWS);
        if (!(piece.flags & SPACE_FOREIGN) && space_table_reserve(&space->table, 1))
            space_table_set(&space->table, &piece);
    }
    pthread_mutex_unlock(&space->mutex);
}
