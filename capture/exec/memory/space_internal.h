/* What the parts of capture/exec/space share; for nobody else. */
#ifndef CAPTURE_EXEC_MEMORY_SPACE_INTERNAL_H
#define CAPTURE_EXEC_MEMORY_SPACE_INTERNAL_H

#include "capture/exec/memory/space.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

/* What is mapped privately, and from which file. */
struct NAMED_FIELDS space_file {
    uint64_t device, inode;
    uint64_t start, end;
};

#define SPACE_FILES_WRITTEN 256u /* that are remembered: the last ones */

struct space {
    struct space_layout layout;
    enum space_execution execution;
    atomic_bool watches_writable;
    pthread_mutex_t mutex; /* guards what follows, and holds for the system call beside it */
    struct space_table table;
    uint64_t break_start;
    uint64_t break_now; /* not only at a page's beginning */
    uint64_t refused;
    struct space_limits limits;
    struct space_file *files;
    size_t file_count, file_capacity;
    struct space_file written[SPACE_FILES_WRITTEN]; /* opened for that; no ranges */
    size_t written_count;
    bool reading_executes;
    int locked;      /* MAP_LOCKED for what is mapped from now on, or 0 */
    bool forks_less; /* than all of it: space_forked() */
    void (*gone)(void *user, uint64_t start, uint64_t end);
    void *gone_user;
};

/* All with the lock held. */

/* What is really set for a mapping's protection. */
int space_real_protection(const struct space *space, const struct space_mapping *mapping);

/* Puts what the system call just did into the table, room being reserved, and tells the listener
 * about watched pages that it replaced. */
void space_note(struct space *space, const struct space_mapping *mapping);
void space_note_gone(struct space *space, uint64_t start, uint64_t end);

/* Tells the listener of the watched pages of a range; they are watched on. */
void space_tell_changed(struct space *space, uint64_t at, uint64_t end);

/* space_file.c: whether a descriptor's file, mapped privately, may change under the mapping; and
 * that it was mapped. */
bool space_file_shows_writes(const struct space *space, int descriptor);
void space_file_mapped(struct space *space, const struct space_mapping *mapping, int descriptor);

/* Notes what is mapped below 4 GiB and not the program's as foreign. False: nothing new was found,
 * or it cannot be told. */
bool space_note_foreign(struct space *space, struct bt_error *error);

/* Takes out of the table what between start and end is not mapped any more: a system call that
 * failed has unmapped something before. */
void space_note_lost(struct space *space, uint64_t start, uint64_t end);

/* space_limit.c: whether the program's limits allow so many bytes more of a mapping's kind; and of
 * what is there, to be data as well. */
bool space_may_grow(const struct space *space, const struct space_mapping *mapping, uint64_t bytes);
bool space_may_have_data(const struct space *space, const struct space_mapping *mapping,
                         uint64_t bytes);

/* Of the first stack, which is mapped as large as it can become, natively as it is used. */
#define SPACE_STACK_USED ((uint64_t)136 << 10)

/* Bytes of the program's mappings in a range. */
uint64_t space_bytes(const struct space *space, uint64_t start, uint64_t end);

/* Counts a refusal; returns -ENOMEM. */
int64_t space_refuse(struct space *space);

/* Maps a range that nothing of the program's is in: clear of what is foreign, or -EEXIST. */
int64_t space_map_hole(const struct space_mapping *mapping, const struct space *space, int flags,
                       int file, uint64_t offset);

/*
 * Maps nothing accessible into the holes of a range that is about to be replaced as a whole, so
 * that nothing that is there unbeknown to us is replaced. 0, or a negative errno: -EEXIST if there
 * was such a thing; it is noted. space_release_holes takes it back if the replacing fails.
 */
int64_t space_take_holes(struct space *space, uint64_t start, uint64_t end);
void space_release_holes(struct space *space, uint64_t start, uint64_t end);

/* A hole for size bytes below a limit (0: the layout's), or 0. */
uint64_t space_hole(const struct space *space, uint64_t size, uint64_t alignment, uint64_t limit);

/* The result of syscall(2), as the kernel gave it. */
int64_t space_result(long result);

/* What a processor that cannot forbid reading alone makes of a protection. */
static inline uint32_t space_effective(uint32_t protection)
{
    return protection & (PROT_WRITE | PROT_EXEC) ? protection | PROT_READ : protection;
}

/* What a program's demand means. */
static inline uint32_t space_demanded(const struct space *space, uint64_t protection)
{
    bool more = space->reading_executes && (protection & PROT_READ);
    return (uint32_t)(protection & (PROT_READ | PROT_WRITE | PROT_EXEC)) | (more ? PROT_EXEC : 0u);
}

/* Up to a multiple of SPACE_PAGE; 0 if that overflows. */
static inline uint64_t space_round_up(uint64_t size)
{
    return (size + SPACE_PAGE - 1) & ~(SPACE_PAGE - 1);
}

#endif
