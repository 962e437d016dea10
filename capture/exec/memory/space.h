/*
 * A program's address space: all of it lies below 4 GiB, in our own process, whose own mappings lie
 * above. Every operation does the real system call and keeps the table of mappings beside it, so
 * that it is known at any time what is the program's, what it believes it may do there, and from
 * which pages code was translated.
 *
 * What is really set differs from what the program believes in two ways. Its code is never run
 * where it lies, so nothing is executable, but readable where it was executable (SPACE_TRANSLATED);
 * and a page that code was translated from (space_watch) is not writable until the program writes
 * to it (space_fault).
 *
 * Calls may come from any thread; those with results like a system call's return what the system
 * call would: a value, or a negative errno. A demand for an address above 4 GiB is refused with
 * ENOMEM and counted.
 */
#ifndef CAPTURE_EXEC_MEMORY_SPACE_H
#define CAPTURE_EXEC_MEMORY_SPACE_H

#include "capture/exec/memory/space_table.h"
#include "formats/base/error.h"
#include "formats/base/named_fields.h"

/* Who gets which part; all multiples of SPACE_PAGE. */
struct NAMED_FIELDS space_layout {
    uint64_t lowest;    /* nothing is placed below */
    uint64_t image;     /* position-independent executables begin here, brk follows them */
    uint64_t break_end; /* as far as brk can grow */
    uint64_t map_end;   /* what may lie anywhere is placed below, as high as possible */
    uint64_t stack_end; /* the first thread's stack ends here */
};

extern const struct space_layout space_layout_default;

enum space_execution {
    SPACE_TRANSLATED, /* the program's pages are never executable */
    SPACE_NATIVE      /* they are, where the program believes so: it runs where it lies */
};

struct space;

/* Takes note of what our process has mapped below 4 GiB already; it is never touched. */
struct space *space_new(const struct space_layout *layout, enum space_execution execution,
                        struct bt_error *error);

/* Unmaps all that is the program's. NULL is fine. */
void space_free(struct space *space);

const struct space_layout *space_layout_of(const struct space *space);

/* Who is told, with the lock held, that pages that were watched are not any more: they are gone, or
 * were, or can now be, written to. Comes after the change. At most one listener. */
void space_set_listener(struct space *space, void (*gone)(void *user, uint64_t start, uint64_t end),
                        void *user);

/* --- what is there --- */

/* The program's mapping that holds the address; false: none does. */
bool space_find(struct space *space, uint64_t address, struct space_mapping *mapping);

/* The next part of a mapping of the program between *at and end, as space_table_next. */
bool space_next(struct space *space, uint64_t *at, uint64_t end, struct space_mapping *piece);

/* Whether the program may do all of this (PROT_*) with every byte of a range, as it believes. */
bool space_allows(struct space *space, uint64_t address, uint64_t size, uint32_t protection);

/* How often the program demanded what lies above 4 GiB, or more than there is below. */
uint64_t space_refused(struct space *space);

/* --- what the program does: mmap(2) and its relatives --- */

int64_t space_mmap(struct space *space, uint64_t address, uint64_t length, uint64_t protection,
                   uint64_t flags, int file, uint64_t offset);
int64_t space_munmap(struct space *space, uint64_t address, uint64_t length);
int64_t space_mprotect(struct space *space, uint64_t address, uint64_t length, uint64_t protection);
int64_t space_mremap(struct space *space, uint64_t old_address, uint64_t old_length,
                     uint64_t new_length, uint64_t flags, uint64_t new_address);
/* As the system call, not the library's function: the break that now is, moved or not. */
int64_t space_brk(struct space *space, uint64_t address);
int64_t space_madvise(struct space *space, uint64_t address, uint64_t length, uint64_t advice);
int64_t space_mlockall(struct space *space, uint64_t flags);
int64_t space_munlockall(struct space *space);
int64_t space_shmat(struct space *space, int segment, uint64_t address, uint64_t flags);
int64_t space_shmdt(struct space *space, uint64_t address);

/* Whether what is mapped to be read, or made readable, can be executed, too (personality(2)). Not
 * so at first. */
void space_set_reading_executes(struct space *space, bool executes);
bool space_reading_executes(struct space *space);

/* The program can write to this file from now on, or has just done so. */
void space_file_written(struct space *space, uint64_t device, uint64_t inode);

/* Limits of the program's own mappings together, in bytes, as RLIMIT_AS and RLIMIT_DATA have them.
 * UINT64_MAX, as at first: none. */
struct NAMED_FIELDS space_limits {
    uint64_t all;
    uint64_t data; /* private and writable, but stacks */
};
void space_limit(struct space *space, const struct space_limits *limits);

/* In a child that fork made: what was not meant for children (madvise(2)) is gone. */
void space_forked(struct space *space);

/* --- what the loader does --- */

/* Where the break begins, a multiple of SPACE_PAGE. */
void space_set_break(struct space *space, uint64_t start);

/* A hole of size bytes where mmap would put it, or 0. Who wants two things side by side asks for
 * their sum and maps each with MAP_FIXED_NOREPLACE. */
uint64_t space_find_free(struct space *space, uint64_t size);

/* Gives the mappings between start and end (flags of) SPACE_HEAP, SPACE_STACK or SPACE_GROWS. */
void space_name(struct space *space, uint64_t start, uint64_t end, uint32_t flags);

/* --- what the translator does --- */

/*
 * From now on a write to the pages from start to end, and their disappearing, is told to the
 * listener. Call it before reading the code, so that no change goes unnoticed. What is written to
 * a SPACE_SHARED mapping elsewhere is not seen: see exec_unseen_function. Returns 0, or -EFAULT if
 * not all of it is the program's.
 */
int space_watch(struct space *space, uint64_t start, uint64_t end);

/* Before the kernel writes for the program (read(2) and the like): pages of the range that only
 * watching keeps from being written to are made writable, and the listener is told. */
void space_before_write(struct space *space, uint64_t address, uint64_t size);

/* Behind what has changed the program's memory regardless of protections: the listener is told of
 * the range's watched pages. */
void space_changed(struct space *space, uint64_t address, uint64_t size);

/* Whether a writable page has ever been watched: without, there is nothing before a write to do. */
bool space_watches_writable(const struct space *space);

enum space_fault {
    SPACE_FAULT_FIXED,   /* it was ours: a watched page, or a mapping that grows; try again */
    SPACE_FAULT_ALLOWED, /* the program may do that: another thread has just mended it, or it is a
                            file's end; if it happens twice, it is the program's */
    SPACE_FAULT_PROGRAM  /* the program's own mistake */
};

/* What a fault at an address means; access is PROT_READ, PROT_WRITE or PROT_EXEC. May be called in
 * a handler of a fault in translated code, not in one that interrupts a call of this module. */
enum space_fault space_fault(struct space *space, uint64_t address, uint32_t access);

#endif
