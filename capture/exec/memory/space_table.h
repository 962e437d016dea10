/*
 * The table of a program's mappings: pieces of the address space in ascending order that do not
 * overlap, neighbours that are alike joined. Knows nothing of the kernel; the caller holds a lock.
 */
#ifndef CAPTURE_EXEC_MEMORY_SPACE_TABLE_H
#define CAPTURE_EXEC_MEMORY_SPACE_TABLE_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPACE_PAGE ((uint64_t)4096)
#define SPACE_END  ((uint64_t)1 << 32) /* what 32 address bits of a record reach */

/* What else is known of a mapping. */
enum space_flags {
    SPACE_SHARED = 1,  /* others, another mapping here, or a file's descriptor, may write to it */
    SPACE_GROWS = 2,   /* MAP_GROWSDOWN: grows towards lower addresses when touched */
    SPACE_WATCHED = 4, /* code was translated from it: a write must be noticed */
    SPACE_FOREIGN = 8, /* not the program's: in our process's own use */
    SPACE_HEAP = 16,   /* brk's */
    SPACE_STACK = 32   /* the first thread's */
};

struct NAMED_FIELDS space_mapping {
    uint64_t start; /* multiples of SPACE_PAGE */
    uint64_t end;
    uint32_t protection; /* PROT_*, as the program believes; what is really set may be less */
    uint32_t flags;      /* of space_flags */
};

struct NAMED_FIELDS space_table {
    struct space_mapping *mappings;
    size_t count;
    size_t capacity;
};

void space_table_free(struct space_table *table);

/* Makes room for a number of calls of space_table_set, so that they cannot fail. False: no memory.
 */
bool space_table_reserve(struct space_table *table, size_t calls);

/* The place in the table of the first mapping that ends after the address; count if none does. */
size_t space_table_search(const struct space_table *table, uint64_t address);

/* Takes what the table has between the mapping's start and end out of it, and puts the mapping
 * there unless it is no more than a hole (clear). There is room: space_table_reserve. */
void space_table_set(struct space_table *table, const struct space_mapping *mapping);
void space_table_clear(struct space_table *table, uint64_t start, uint64_t end);

/* The next mapping with a part between *at and end: that part into *piece, and its end into *at.
 * False: there is none. The table may change between calls. */
bool space_table_next(const struct space_table *table, uint64_t *at, uint64_t end,
                      struct space_mapping *piece);

/* The same of holes, into *hole's start and end. */
bool space_table_next_hole(const struct space_table *table, uint64_t *at, uint64_t end,
                           struct space_mapping *hole);

/* Whether any mapping with one of these flags, or any at all (0), has a part of the range. */
bool space_table_overlaps(const struct space_table *table, uint64_t start, uint64_t end,
                          uint32_t flags);

/*
 * Finds a free range of size bytes between low and high, as high as possible, at a multiple of
 * alignment (a power of two), and clear of what mappings that grow need below them. 0: there is
 * none (low is not 0).
 */
uint64_t space_table_find_free(const struct space_table *table, uint64_t low, uint64_t high,
                               uint64_t size, uint64_t alignment);

/* What a mapping that grows keeps free between itself and the next one below, in bytes. */
#define SPACE_GUARD (256 * SPACE_PAGE)

#endif
