/*
 * The runtime's own heap, so that neither the program's addresses nor its heap's state have to do
 * with what is counted: references come from signal handlers and from inside of malloc() too. The
 * build renames malloc() and its relatives to these in the runtime's objects. Calls are under the
 * runtime's lock. Blocks are powers of two; large ones are mappings of their own.
 */
#define _GNU_SOURCE /* mremap, MAP_ANONYMOUS */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CLASS_MIN   5u
#define CLASS_LARGE 18u /* blocks of this size and above are mappings */
#define AREA        ((size_t)4 << 20)

/* Before each block; blocks are aligned to 16. */
struct block {
    size_t size; /* with this header */
    struct block *next;
};

static struct block *unused[CLASS_LARGE];
static uint8_t *area;
static size_t area_rest;

void *instrument_malloc(size_t size);
void *instrument_calloc(size_t count, size_t size);
void *instrument_realloc(void *memory, size_t size);
void instrument_free(void *memory);

static void *map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static struct block *take(unsigned class)
{
    const size_t size = (size_t)1 << class;
    struct block *block = unused[class];
    if (block) {
        unused[class] = block->next;
        return block;
    }
    if (area_rest < size) {
        uint8_t *larger = map(AREA);
        if (!larger)
            return NULL;
        area = larger;
        area_rest = AREA;
    }
    block = (struct block *)(void *)area;
    area += size;
    area_rest -= size;
    return block;
}

void *instrument_malloc(size_t size)
{
    if (size > PTRDIFF_MAX / 2)
        return NULL;
    size += sizeof(struct block);
    unsigned class = CLASS_MIN;
    while (class < CLASS_LARGE && (size_t)1 << class < size)
        class ++;
    if (class < CLASS_LARGE)
        size = (size_t)1 << class;
    struct block *block = class < CLASS_LARGE ? take(class) : map(size);
    if (!block)
        return NULL;
    block->size = size;
    return block + 1;
}

void *instrument_calloc(size_t count, size_t size)
{
    if (size > 0 && count > PTRDIFF_MAX / size)
        return NULL;
    void *memory = instrument_malloc(count * size);
    return memory ? memset(memory, 0, count * size) : NULL;
}

void instrument_free(void *memory)
{
    if (!memory)
        return;
    struct block *block = (struct block *)memory - 1;
    if (block->size >= (size_t)1 << CLASS_LARGE) {
        munmap(block, block->size);
        return;
    }
    const unsigned class = (unsigned)__builtin_ctzl(block->size);
    block->next = unused[class];
    unused[class] = block;
}

static void *resize_mapping(struct block *block, size_t size)
{
    size += sizeof *block;
    struct block *moved = mremap(block, block->size, size, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED)
        return NULL;
    moved->size = size;
    return moved + 1;
}

void *instrument_realloc(void *memory, size_t size)
{
    if (!memory)
        return instrument_malloc(size);
    struct block *block = (struct block *)memory - 1;
    const size_t large = (size_t)1 << CLASS_LARGE;
    if (block->size >= large && size >= large && size <= PTRDIFF_MAX / 2)
        return resize_mapping(block, size);
    const size_t old = block->size - sizeof *block;
    if (size <= old && block->size < large)
        return memory;
    void *larger = instrument_malloc(size);
    if (!larger)
        return NULL;
    memcpy(larger, memory, old < size ? old : size);
    instrument_free(memory);
    return larger;
}
