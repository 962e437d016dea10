/*
 * The table of a program's mappings: disjoint ranges of addresses in ascending order; adjacent
 * ranges with equal attributes are merged. Makes no system calls; the caller holds a lock.
 */
#ifndef CAPTURE_EXEC_MEMORY_SPACE_TABLE_H
#define CAPTURE_EXEC_MEMORY_SPACE_TABLE_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPACE_PAGE ((uint64_t)4096)
#define SPACE_END  ((uint64_t)1 << 32) /* end of the addresses that 32 bits of a record express */

/* Attributes of a mapping. */
enum space_flags {
    SPACE_SHARED = 1,  /* may be written to by others, through another mapping, or through a file */
    SPACE_GROWS = 2,   /* MAP_GROWSDOWN: grows towards lower addresses when touched */
    SPACE_WATCHED = 4, /* code was translated from it: writes must be detected */
    SPACE_FOREIGN = 8, /* used by our own process */
    SPACE_HEAP = 16,   /* of brk */
    SPACE_STACK = 32   /* stack of the first thread */
};

struct NAMED_FIELDS space_mapping {
    uint64_t start; /* multiples of SPACE_PAGE */
    uint64_t end;
    uint32_t protection; /* PROT_*, as the program has asked; the real one may allow less */
    uint32_t flags;      /* enum space_flags */
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

/* The index of the first mapping that ends after the address; count if there is none. */
size_t space_table_search(const struct space_table *table, uint64_t address);

/* Replace the range by the mapping, or by a hole (clear). Call space_table_reserve() before. */
void space_table_set(struct space_table *table, const struct space_mapping *mapping);
void space_table_clear(struct space_table *table, uint64_t start, uint64_t end);

/* Finds the next mapping that overlaps the range from *at to end: stores the overlap in *piece and
 * its end in *at. False: there is none. The table may change between calls. */
bool space_table_next(const struct space_table *table, uint64_t *at, uint64_t end,
                      struct space_mapping *piece);

/* The same for holes; sets start and end of *hole. */
bool space_table_next_hole(const struct space_table *table, uint64_t *at, uint64_t end,
                           struct space_mapping *hole);

/* Whether any mapping with one of these flags, or any mapping (0), overlaps the range. */
bool space_table_overlaps(const struct space_table *table, uint64_t start, uint64_t end,
                          uint32_t flags);

/*
 * Finds the highest free range of size bytes between low and high, at a multiple of alignment (a
 * power of two) and at least SPACE_GUARD below mappings that grow. 0: there is none (low is not 0).
 */
uint64_t space_table_find_free(const struct space_table *table, uint64_t low, uint64_t high,
                               uint64_t size, uint64_t alignment);

/* Bytes that stay free between a mapping that grows and the next mapping below it. */
#define SPACE_GUARD (256 * SPACE_PAGE)

#endif
