#include "tools/wet/value_memory.h"

#include "formats/base/error.h"

#include <stdlib.h>

static void empty_slots(struct value_memory *memory)
{
    for (size_t i = 0; i < VALUE_MEMORY_SLOTS; i++)
        memory->slots[i] = (struct value_memory_slot){.bytes = memory->pages};
    memory->used = 1;
}

int value_memory_init(struct value_memory *memory)
{
    /* the system makes the pages when they are written first */
    memory->pages = calloc(VALUE_MEMORY_PAGES, VALUE_PAGE_BYTES);
    memory->slots = calloc(VALUE_MEMORY_SLOTS, sizeof *memory->slots);
    if (!memory->pages || !memory->slots)
        return BT_MEMORY;
    empty_slots(memory);
    return 0;
}

void value_memory_clear(struct value_memory *memory)
{
    free(memory->pages);
    free(memory->slots);
    memory->pages = NULL;
    memory->slots = NULL;
}

uint8_t *value_memory_add(struct value_memory *memory, uint64_t number)
{
    if (memory->used == VALUE_MEMORY_PAGES) {
        memset(memory->pages, 0, (size_t)VALUE_MEMORY_PAGES * VALUE_PAGE_BYTES);
        empty_slots(memory);
    }
    struct value_memory_slot *slot = value_memory_find(memory, number);
    *slot = (struct value_memory_slot){
        .number = number, .bytes = memory->pages + (size_t)memory->used++ * VALUE_PAGE_BYTES};
    return slot->bytes;
}

/* How many of the bytes are in the page of the address. */
static size_t in_page(uint64_t address, size_t size)
{
    const size_t left = VALUE_PAGE_BYTES - address % VALUE_PAGE_BYTES;
    return size < left ? size : left;
}

void value_memory_read_bytes(const struct value_memory *memory, uint64_t address, uint8_t *to,
                             size_t size)
{
    while (size > 0) {
        const size_t part = in_page(address, size);
        memcpy(to,
               value_memory_find(memory, address >> VALUE_PAGE_BITS)->bytes +
                   address % VALUE_PAGE_BYTES,
               part);
        address += part;
        to += part;
        size -= part;
    }
}

void value_memory_write_bytes(struct value_memory *memory, uint64_t address, const uint8_t *from,
                              size_t size)
{
    while (size > 0) {
        const size_t part = in_page(address, size);
        memcpy(value_memory_page(memory, address >> VALUE_PAGE_BITS) + address % VALUE_PAGE_BYTES,
               from, part);
        address += part;
        from += part;
        size -= part;
    }
}

uint64_t value_memory_read_across(const struct value_memory *memory, uint64_t address)
{
    uint64_t value;
    value_memory_read_bytes(memory, address, (uint8_t *)&value, sizeof value);
    return value;
}

void value_memory_write_across(struct value_memory *memory, uint64_t address, uint64_t value,
                               unsigned size)
{
    value_memory_write_bytes(memory, address, (const uint8_t *)&value, size);
}
