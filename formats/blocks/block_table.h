/*
 * Blocks whose executions come as words: the number of a block, and values from which the changing
 * addresses of its records follow. One thread adds blocks; others may use those that were added
 * before they got the words.
 */
#ifndef FORMATS_BLOCKS_BLOCK_TABLE_H
#define FORMATS_BLOCKS_BLOCK_TABLE_H

#include "formats/record/record.h"

#include <stddef.h>

#define BLOCK_TABLE_MAX   (1u << 20)
#define BLOCK_TABLE_CHUNK 4096u

/* An address that changes: addend, plus words[word] unless word is 0, plus the base of fs if
 * through_fs. */
struct table_address {
    uint32_t addend;
    uint16_t record; /* number in the block; ascending */
    uint16_t word;   /* the execution's word that holds it; 0: none */
    bool through_fs;
};

/* Records of a block, as many as a template can have; `next` has the others. */
struct table_block {
    struct table_block *next;
    struct table_address *addresses;
    uint32_t end; /* of its last fetch */
    uint8_t record_count, address_count;
    struct record records[];
};

struct table_entry {
    const struct table_block *block; /* NULL: its executions cannot be coded as such */
    uint32_t records;
    uint16_t words; /* of an execution; at most BLOCK_TABLE_WORDS for each record */
    uint16_t instructions;
};

#define BLOCK_TABLE_WORDS 3u /* words of an execution take no more room than its records */

struct block_table {
    _Atomic uint32_t users;
    uint32_t count;
    struct table_entry *chunks[BLOCK_TABLE_MAX / BLOCK_TABLE_CHUNK];
};

/* A table without blocks, of one user; NULL: no memory. */
struct block_table *block_table_new(void);

/* Another user; the end of one, which may be NULL. The last one frees the table. */
void block_table_share(struct block_table *table);
void block_table_leave(struct block_table *table);

/* What a block is made of. */
struct table_description {
    const struct record *records;
    const struct table_address *addresses; /* NULL: executions cannot be coded as such */
    unsigned record_count, address_count;
    uint16_t words, instructions;
};

/* Adds the next block: 0, or BT_MEMORY. */
int block_table_add(struct block_table *table, const struct table_description *description);

/* The number must be below table->count. */
static inline const struct table_entry *block_table_entry(const struct block_table *table,
                                                          uint32_t number)
{
    return &table->chunks[number / BLOCK_TABLE_CHUNK][number % BLOCK_TABLE_CHUNK];
}

#endif
