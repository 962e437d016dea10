#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */

#include "tools/wet/values/value_memory.h"

#include "formats/base/error.h"

#include <sys/mman.h>

#define PAGES_BYTES ((size_t)VALUE_MEMORY_PAGES * VALUE_PAGE_BYTES)
#define SLOTS_BYTES (VALUE_MEMORY_SLOTS * sizeof(struct value_memory_slot))

/* Zeroed memory that takes none before it is written. */
static void *reserve(size_t size)
{
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return bytes != MAP_FAILED ? bytes : NULL;
}

int value_memory_init(struct value_memory *memory)
{
    memory->pages = reserve(PAGES_BYTES);
    memory->slots = reserve(SLOTS_BYTES);
    memory->used = 1;
    return memory->pages && memory->slots ? 0 : BT_MEMORY;
}

void value_memory_clear(struct value_memory *memory)
{
    if (memory->pages)
        munmap(memory->pages, PAGES_BYTES);
    if (memory->slots)
        munmap(memory->slots, SLOTS_BYTES);
    memory->pages = NULL;
    memory->slots = NULL;
}

uint8_t *value_memory_add(struct value_memory *memory, uint64_t number)
{
    if (memory->used == VALUE_MEMORY_PAGES) {
        memset(memory->pages, 0, PAGES_BYTES);
        memset(memory->slots, 0, SLOTS_BYTES);
        memory->used = 1;
    }
    struct value_memory_slot *slot = value_memory_find(memory, number);
    *slot = (struct value_memory_slot){.number = number,
                                       .offset = (size_t)memory->used++ * VALUE_PAGE_BYTES};
    return memory->pages + slot->offset;
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
               value_memory_known(memory, address >> VALUE_PAGE_BITS) + address % VALUE_PAGE_BYTES,
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
