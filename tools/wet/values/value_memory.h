/*
 * What is known of a program's memory from the values that it stored and loaded. Unknown bytes are
 * 0. At most VALUE_MEMORY_PAGES pages are kept; when another one is needed, all are forgotten, so
 * that writer and reader of a WET file know the same.
 */
#ifndef TOOLS_WET_VALUES_VALUE_MEMORY_H
#define TOOLS_WET_VALUES_VALUE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VALUE_PAGE_BITS    12u
#define VALUE_PAGE_BYTES   (1u << VALUE_PAGE_BITS)
#define VALUE_MEMORY_PAGES 32768u
#define VALUE_MEMORY_SLOTS 65536u

struct value_memory {
    uint8_t *pages; /* the first one is that of unknown bytes */
    struct value_memory_slot {
        uint64_t number; /* of the page: its address, without the offset */
        size_t offset;   /* in pages; 0: the slot is empty */
    } * slots;
    uint32_t used; /* pages, with the first one */
};

/* 0 or BT_MEMORY; value_memory_clear() frees in either case. */
int value_memory_init(struct value_memory *memory);
void value_memory_clear(struct value_memory *memory);

/* The bytes of a new page. */
uint8_t *value_memory_add(struct value_memory *memory, uint64_t number);

/* Where the page is, or where it would be. */
static inline struct value_memory_slot *value_memory_find(const struct value_memory *memory,
                                                          uint64_t number)
{
    uint32_t at = (uint32_t)(number ^ number >> 12) % VALUE_MEMORY_SLOTS;
    while (memory->slots[at].number != number && memory->slots[at].offset != 0)
        at = (at + 1) % VALUE_MEMORY_SLOTS;
    return &memory->slots[at];
}

/* The bytes of a page, to be read. */
static inline const uint8_t *value_memory_known(const struct value_memory *memory, uint64_t number)
{
    return memory->pages + value_memory_find(memory, number)->offset;
}

/* The bytes of a page, to be written. */
static inline uint8_t *value_memory_page(struct value_memory *memory, uint64_t number)
{
    const size_t offset = value_memory_find(memory, number)->offset;
    return offset != 0 ? memory->pages + offset : value_memory_add(memory, number);
}

/* Any number of bytes, within a page or not. */
void value_memory_read_bytes(const struct value_memory *memory, uint64_t address, uint8_t *to,
                             size_t size);
void value_memory_write_bytes(struct value_memory *memory, uint64_t address, const uint8_t *from,
                              size_t size);

/* The same for eight bytes, and for fewer, where they are in two pages. */
uint64_t value_memory_read_across(const struct value_memory *memory, uint64_t address);
void value_memory_write_across(struct value_memory *memory, uint64_t address, uint64_t value,
                               unsigned size);

/* Eight bytes. */
static inline uint64_t value_memory_read(const struct value_memory *memory, uint64_t address)
{
    const uint32_t offset = address % VALUE_PAGE_BYTES;
    uint64_t value;
    if (offset > VALUE_PAGE_BYTES - 8)
        return value_memory_read_across(memory, address);
    memcpy(&value, value_memory_known(memory, address >> VALUE_PAGE_BITS) + offset, 8);
    return value;
}

/* The lowest size bytes of a value, 1 to 8. */
static inline void value_memory_write(struct value_memory *memory, uint64_t address, uint64_t value,
                                      unsigned size)
{
    const uint32_t offset = address % VALUE_PAGE_BYTES;
    const uint64_t mask = UINT64_MAX >> (64 - 8 * size);
    uint64_t old;
    if (offset > VALUE_PAGE_BYTES - 8) {
        value_memory_write_across(memory, address, value, size);
        return;
    }
    uint8_t *at = value_memory_page(memory, address >> VALUE_PAGE_BITS) + offset;
    memcpy(&old, at, 8);
    value = (old & ~mask) | (value & mask);
    memcpy(at, &value, 8);
}

#endif
