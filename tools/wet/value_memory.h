/*
 * What is known of a program's memory from the values that it stored and loaded. Unknown bytes are
 * 0. At most VALUE_MEMORY_PAGES pages are kept; when another one is needed, all are forgotten, so
 * that writer and reader of a WET file know the same.
 */
#ifndef TOOLS_WET_VALUE_MEMORY_H
#define TOOLS_WET_VALUE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VALUE_PAGE_BITS    12u
#define VALUE_PAGE_BYTES   (1u << VALUE_PAGE_BITS)
#define VALUE_MEMORY_PAGES 32768u
#define VALUE_MEMORY_SLOTS 65536u

struct value_memory {
    uint8_t *pages; /* page n at n * VALUE_PAGE_BYTES; page 0 is that of unknown bytes */
    struct value_memory_slot {
        uint64_t number; /* of the page: its address, without the offset */
        uint32_t page;   /* 0: the slot is empty */
    } * slots;
    uint32_t used; /* pages, with page 0 */
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
    uint32_t at = (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 48);
    while (memory->slots[at].number != number && memory->slots[at].page != 0)
        at = (at + 1) % VALUE_MEMORY_SLOTS;
    return &memory->slots[at];
}

/* Any number of bytes, within a page or not. */
void value_memory_read_bytes(const struct value_memory *memory, uint64_t address, uint8_t *to,
                             size_t size);
void value_memory_write_bytes(struct value_memory *memory, uint64_t address, const uint8_t *from,
                              size_t size);

/* Eight bytes. */
static inline uint64_t value_memory_read(const struct value_memory *memory, uint64_t address)
{
    const uint32_t offset = address % VALUE_PAGE_BYTES;
    uint64_t value;
    if (offset <= VALUE_PAGE_BYTES - 8) {
        const uint32_t page = value_memory_find(memory, address >> VALUE_PAGE_BITS)->page;
        memcpy(&value, memory->pages + (size_t)page * VALUE_PAGE_BYTES + offset, 8);
    } else {
        uint8_t bytes[8];
        value_memory_read_bytes(memory, address, bytes, sizeof bytes);
        memcpy(&value, bytes, 8);
    }
    return value;
}

/* The lowest size bytes of a value, at most 8. */
static inline void value_memory_write(struct value_memory *memory, uint64_t address, uint64_t value,
                                      unsigned size)
{
    const uint32_t offset = address % VALUE_PAGE_BYTES;
    uint8_t bytes[8];
    if (offset <= VALUE_PAGE_BYTES - 8) {
        const struct value_memory_slot *slot =
            value_memory_find(memory, address >> VALUE_PAGE_BITS);
        uint8_t *at = (slot->page != 0 ? memory->pages + (size_t)slot->page * VALUE_PAGE_BYTES
                                       : value_memory_add(memory, address >> VALUE_PAGE_BITS)) +
                      offset;
        uint64_t old;
        memcpy(&old, at, 8);
        const uint64_t mask = UINT64_MAX >> (64 - 8 * size);
        value = (old & ~mask) | (value & mask);
        memcpy(at, &value, 8);
    } else {
        memcpy(bytes, &value, 8);
        value_memory_write_bytes(memory, address, bytes, size);
    }
}

#endif
