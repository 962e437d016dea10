#define _GNU_SOURCE /* mremap, and madvise for large pages */

#include "tools/common/large_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_BYTES ((size_t)2 << 20) /* size of a large page */
#define MAP_BYTES  (2 * PAGE_BYTES)  /* smaller blocks come from malloc */

static size_t round_up(size_t size)
{
    return (size + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
}

/* Size and address are multiples of PAGE_BYTES. */
static void *map_aligned(size_t size)
{
    char *start = mmap(NULL, size + PAGE_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    size_t front = (PAGE_BYTES - (uintptr_t)start % PAGE_BYTES) % PAGE_BYTES;
    if (front > 0)
        munmap(start, front);
    munmap(start + front + size, PAGE_BYTES - front);
    madvise(start + front, size, MADV_HUGEPAGE);
    return start + front;
}

static void *grow_small(void *memory, size_t old_size, size_t new_size)
{
    char *grown = realloc(memory, new_size);
    if (grown)
        memset(grown + old_size, 0, new_size - old_size);
    return grown;
}

void *large_memory_grow(void *memory, size_t old_size, size_t new_size)
{
    if (new_size > SIZE_MAX / 4)
        return NULL;
    if (new_size < MAP_BYTES)
        return grow_small(memory, old_size, new_size);
    if (old_size >= MAP_BYTES && round_up(old_size) == round_up(new_size))
        return memory;
    char *grown = map_aligned(round_up(new_size));
    if (!grown)
        return NULL;
    if (old_size < MAP_BYTES) {
        if (old_size > 0)
            memcpy(grown, memory, old_size);
        free(memory);
        return grown;
    }
    if (mremap(memory, round_up(old_size), round_up(old_size), MREMAP_MAYMOVE | MREMAP_FIXED,
               grown) == MAP_FAILED) {
        munmap(grown, round_up(new_size));
        return NULL;
    }
    return grown;
}

void large_memory_free(void *memory, size_t size)
{
    if (memory && size >= MAP_BYTES)
        munmap(memory, round_up(size));
    else
        free(memory);
}
