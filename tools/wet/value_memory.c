#include "tools/wet/value_memory.h"

#include "formats/base/error.h"

#include <stdlib.h>

int value_memory_init(struct value_memory *memory)
{
    /* the system makes the pages when they are written first */
    memory->pages = calloc(VALUE_MEMORY_PAGES, VALUE_PAGE_BYTES);
    memory->slots = calloc(VALUE_MEMORY_SLOTS, sizeof *memory->slots);
    memory->used = 1;
    return memory->pages && memory->slots ? 0 : BT_MEMORY;
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
        memset(memory->slots, 0, VALUE_MEMORY_SLOTS * sizeof *memory->slots);
        memory->used = 1;
    }
    struct value_memory_slot *slot = value_memory_find(memory, number);
    *slot = (struct value_memory_slot){.number = number, .page = memory->used++};
    return memory->pages + (size_t)slot->page * VALUE_PAGE_BYTES;
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
        const uint32_t page = value_memory_find(memory, address >> VALUE_PAGE_BITS)->page;
        memcpy(to, memory->pages + (size_t)page * VALUE_PAGE_BYTES + address % VALUE_PAGE_BYTES,
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
        const uint64_t number = address >> VALUE_PAGE_BITS;
        const uint32_t page = value_memory_find(memory, number)->page;
        uint8_t *bytes = page != 0 ? memory->pages + (size_t)page * VALUE_PAGE_BYTES
                                   : value_memory_add(memory, number);
        memcpy(bytes + address % VALUE_PAGE_BYTES, from, part);
        address += part;
        from += part;
        size -= part;
    }
}
