/*
 * The address space of a program: the part of our process below 4 GiB; our own mappings are above.
 * Every operation makes the real system call and updates a table of mappings, which records what
 * belongs to the program, the protection that the program has requested, and the pages that code
 * was translated from.
 *
 * The real protection differs from the one that the program has requested in two ways. The
 * program's code is never executed in place, so executable pages are readable instead
 * (SPACE_TRANSLATED); and a page that code was translated from (space_watch) is not writable until
 * the program writes to it (space_fault).
 *
 * Calls may come from any thread. Functions named after a system call return its result: a value,
 * or a negative errno. A request for an address above 4 GiB fails with ENOMEM and is counted.
 */
#ifndef CAPTURE_EXEC_MEMORY_SPACE_H
#define CAPTURE_EXEC_MEMORY_SPACE_H

#include "capture/exec/memory/space_table.h"
#include "formats/base/error.h"
#include "formats/base/named_fields.h"

/* Layout of the address space; all multiples of SPACE_PAGE. */
struct NAMED_FIELDS space_layout {
    uint64_t lowest;    /* lowest address of any mapping */
    uint64_t image;     /* start of position-independent executables; brk follows them */
    uint64_t break_end; /* highest possible break */
    uint64_t map_end;   /* mappings without an address are placed below, as high as possible */
    uint64_t stack_end; /* end of the first thread's stack */
};

extern const struct space_layout space_layout_default;

enum space_execution {
    SPACE_TRANSLATED, /* the program's pages are never executable */
    SPACE_NATIVE      /* executable as the program has asked: it is executed in place */
};

struct space;

/* Records what our process has already mapped below 4 GiB; these mappings are never changed. */
struct space *space_new(const struct space_layout *layout, enum space_execution execution,
                        struct bt_error *error);

/* Unmaps all of the program. NULL is fine. */
void space_free(struct space *space);

const struct space_layout *space_layout_of(const struct space *space);

/* Sets the function that is called, with the lock held, after watched pages have lost their watch:
 * they were unmapped or written to, or can now be written to. There is at most one. */
void space_set_listener(struct space *space, void (*gone)(void *user, uint64_t start, uint64_t end),
                        void *user);

/* --- queries --- */

/* The program's mapping that contains the address; false: none. */
bool space_find(struct space *space, uint64_t address, struct space_mapping *mapping);

/* The next part of a mapping of the program between *at and end, as space_table_next. */
bool space_next(struct space *space, uint64_t *at, uint64_t end, struct space_mapping *piece);

/* Whether the protection that the program has requested allows all of this (PROT_*) in the whole
 * range. */
bool space_allows(struct space *space, uint64_t address, uint64_t size, uint32_t protection);

/* Number of requests for addresses above 4 GiB, or for more than is free below. */
uint64_t space_refused(struct space *space);

/* --- system calls of the program: mmap(2) and its relatives --- */

int64_t space_mmap(struct space *space, uint64_t address, uint64_t length, uint64_t protection,
                   uint64_t flags, int file, uint64_t offset);
int64_t space_munmap(struct space *space, uint64_t address, uint64_t length);
int64_t space_mprotect(struct space *space, uint64_t address, uint64_t length, uint64_t protection);
int64_t space_mremap(struct space *space, uint64_t old_address, uint64_t old_length,
                     uint64_t new_length, uint64_t flags, uint64_t new_address);
/* As the system call, not the library's function: returns the current break, moved or not. */
int64_t space_brk(struct space *space, uint64_t address);
int64_t space_madvise(struct space *space, uint64_t address, uint64_t length, uint64_t advice);
int64_t space_mlockall(struct space *space, uint64_t flags);
int64_t space_munlockall(struct space *space);
int64_t space_shmat(struct space *space, int segment, uint64_t address, uint64_t flags);
int64_t space_shmdt(struct space *space, uint64_t address);

/* Whether readable mappings are executable as well (READ_IMPLIES_EXEC of personality(2)). Initially
 * false. */
void space_set_reading_executes(struct space *space, bool executes);
bool space_reading_executes(struct space *space);

/* The program has opened this file for writing, or has written to it. */
void space_file_written(struct space *space, uint64_t device, uint64_t inode);

/* Limits of the total size of the program's mappings, in bytes, as RLIMIT_AS and RLIMIT_DATA define
 * them. UINT64_MAX, the initial value: no limit. */
struct NAMED_FIELDS space_limits {
    uint64_t all;
    uint64_t data; /* private and writable mappings, except stacks */
};
void space_limit(struct space *space, const struct space_limits *limits);

/* In a child that fork made: removes the mappings that children do not inherit (madvise(2)). */
void space_forked(struct space *space);

/* --- for the loader --- */

/* Sets the start of the break, a multiple of SPACE_PAGE. */
void space_set_break(struct space *space, uint64_t start);

/* A free range of size bytes where mmap would place it, or 0. For two adjacent mappings ask for
 * their sum and map each with MAP_FIXED_NOREPLACE. */
uint64_t space_find_free(struct space *space, uint64_t size);

/* Sets SPACE_HEAP, SPACE_STACK or SPACE_GROWS on the mappings between start and end. */
void space_name(struct space *space, uint64_t start, uint64_t end, uint32_t flags);

/* --- for the translator --- */

/*
 * Watches the pages from start to end: the listener is called when they are written to or unmapped.
 * Call it before reading the code, so that no change is missed. Writes to a SPACE_SHARED mapping
 * through another mapping are not detected: exec_unseen_function reports such pages. Returns 0, or
 * -EFAULT: part of the range is not the program's.
 */
int space_watch(struct space *space, uint64_t start, uint64_t end);

/* Number of changes of the mappings so far, modulo 2^32, except by space_watch(): a watched page
 * stays watched until the next one. */
unsigned space_changes(const struct space *space);

/* Call it before the kernel writes to the program's memory (read(2), ...): makes watched pages of
 * the range writable and calls the listener. */
void space_before_write(struct space *space, uint64_t address, uint64_t size);

/* Call it after the program's memory was changed regardless of protections: calls the listener for
 * the watched pages of the range. */
void space_changed(struct space *space, uint64_t address, uint64_t size);

/* Whether a writable page has ever been watched; if not, space_before_write() has nothing to do. */
bool space_watches_writable(const struct space *space);

enum space_fault {
    SPACE_FAULT_FIXED,   /* caused by a watched page, or by a mapping that grows; retry */
    SPACE_FAULT_ALLOWED, /* the access is allowed: another thread has just fixed the fault, or the
                            page is after the end of a file; a second one is the program's */
    SPACE_FAULT_PROGRAM  /* the program's own fault */
};

/* Classifies a fault at an address and fixes it if possible; access is PROT_READ, PROT_WRITE or
 * PROT_EXEC. May be called in a handler of a fault in translated code, but not in one that
 * interrupts a call of this module. */
enum space_fault space_fault(struct space *space, uint64_t address, uint32_t access);

#endif
