/* State and functions that the space*.c files share. */
#ifndef CAPTURE_EXEC_MEMORY_SPACE_INTERNAL_H
#define CAPTURE_EXEC_MEMORY_SPACE_INTERNAL_H

#include "capture/exec/memory/space.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

/* A range that is mapped privately, and its file. */
struct NAMED_FIELDS space_file {
    uint64_t device, inode;
    uint64_t start, end;
};

#define SPACE_FILES_WRITTEN 256u /* number of files remembered, the last ones */

struct space {
    struct space_layout layout;
    enum space_execution execution;
    atomic_bool watches_writable;
    atomic_uint changes;   /* of the table */
    pthread_mutex_t mutex; /* guards all members below; held during the matching system call */
    struct space_table table;
    uint64_t break_start;
    uint64_t break_now; /* need not be page-aligned */
    uint64_t refused;
    struct space_limits limits;
    struct space_file *files;
    size_t file_count, file_capacity;
    struct space_file written[SPACE_FILES_WRITTEN]; /* files opened for writing; without ranges */
    size_t written_count;
    bool reading_executes;
    int locked;      /* flag for new mappings: MAP_LOCKED or 0 */
    bool forks_less; /* a child does not inherit all mappings: space_forked() */
    void (*gone)(void *user, uint64_t start, uint64_t end);
    void *gone_user;
};

/* The caller of these functions holds the mutex. */

/* The real protection of a mapping's pages. */
int space_real_protection(const struct space *space, const struct space_mapping *mapping);

/* Enters the result of a system call into the table, which has room reserved, and reports the
 * watched pages that it replaced to the listener. watched: it only became watched. */
void space_note(struct space *space, const struct space_mapping *mapping);
void space_note_watched(struct space *space, const struct space_mapping *mapping);
void space_note_gone(struct space *space, uint64_t start, uint64_t end);

/* Reports the watched pages of a range to the listener; they stay watched. */
void space_tell_changed(struct space *space, uint64_t at, uint64_t end);

/* space_file.c: whether a descriptor's file, mapped privately, may change under the mapping;
 * and records the mapping. */
bool space_file_shows_writes(const struct space *space, int descriptor);
void space_file_mapped(struct space *space, const struct space_mapping *mapping, int descriptor);

/* Enters mappings below 4 GiB that are not the program's as foreign. False: none is new, or they
 * cannot be read. */
bool space_note_foreign(struct space *space, struct bt_error *error);

/* Removes ranges between start and end from the table that are not mapped any more, because a
 * system call unmapped them before it failed. */
void space_note_lost(struct space *space, uint64_t start, uint64_t end);

/* space_limit.c: whether the program's limits allow this number of additional bytes of a mapping's
 * kind; and whether this number of existing bytes may become data. */
bool space_may_grow(const struct space *space, const struct space_mapping *mapping, uint64_t bytes);
bool space_may_have_data(const struct space *space, const struct space_mapping *mapping,
                         uint64_t bytes);

/* Bytes that count for the first stack: it is mapped at its maximum size, natively as it grows. */
#define SPACE_STACK_USED ((uint64_t)136 << 10)

/* Size of the program's mappings in a range, in bytes. */
uint64_t space_bytes(const struct space *space, uint64_t start, uint64_t end);

/* Counts a refusal; returns -ENOMEM. */
int64_t space_refuse(struct space *space);

/* Maps a range without mappings of the program; -EEXIST: it has a foreign mapping. */
int64_t space_map_hole(const struct space_mapping *mapping, const struct space *space, int flags,
                       int file, uint64_t offset);

/* Of inaccessible mappings that take a hole until it is mapped over. */
#define SPACE_HOLE_FLAGS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

/*
 * Maps the holes of a range inaccessible before the whole range is replaced, so that unknown
 * foreign mappings are detected. 0, or a negative errno: -EEXIST if there was one; it is entered as
 * foreign. space_release_holes() unmaps the holes if the replacement fails.
 */
int64_t space_take_holes(struct space *space, uint64_t start, uint64_t end);
void space_release_holes(struct space *space, uint64_t start, uint64_t end);

/* A hole for size bytes below a limit (0: the layout's), or 0. */
uint64_t space_hole(const struct space *space, uint64_t size, uint64_t alignment, uint64_t limit);

/* The kernel's result of a syscall(2): a negative errno on failure. */
int64_t space_result(long result);

/* The effective protection: writable and executable pages are also readable. */
static inline uint32_t space_effective(uint32_t protection)
{
    return protection & (PROT_WRITE | PROT_EXEC) ? protection | PROT_READ : protection;
}

/* The protection for a program's request, with READ_IMPLIES_EXEC. */
static inline uint32_t space_demanded(const struct space *space, uint64_t protection)
{
    bool more = space->reading_executes && (protection & PROT_READ);
    return (uint32_t)(protection & (PROT_READ | PROT_WRITE | PROT_EXEC)) | (more ? PROT_EXEC : 0u);
}

/* Rounds up to a multiple of SPACE_PAGE; 0 if that overflows. */
static inline uint64_t space_round_up(uint64_t size)
{
    return (size + SPACE_PAGE - 1) & ~(SPACE_PAGE - 1);
}

#endif
