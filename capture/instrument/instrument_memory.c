/*
 * The program's functions that give memory back, which take the place of the C library's: what is
 * freed is forgotten. Not part of the objects whose own allocations are renamed (instrument.mk).
 */
#define _GNU_SOURCE
#include "capture/instrument/instrument_internal.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma GCC visibility push(default)

void __libc_free(void *memory);
void *__libc_realloc(void *memory, size_t size);

void free(void *memory)
{
    if (memory)
        instrument_forget((uint64_t)(uintptr_t)memory, malloc_usable_size(memory));
    __libc_free(memory);
}

void *realloc(void *memory, size_t size)
{
    const uint64_t before = (uint64_t)(uintptr_t)memory;
    const size_t old = memory ? malloc_usable_size(memory) : 0;
    void *moved = __libc_realloc(memory, size);
    const uint64_t after = (uint64_t)(uintptr_t)moved;
    if (after != before && moved)
        instrument_move(before, after, old < size ? old : size);
    if (after != before && (moved || size == 0))
        instrument_forget(before, old);
    else if (moved && size < old)
        instrument_forget(after + size, old - size);
    return moved;
}

int munmap(void *memory, size_t size)
{
    const int result = (int)syscall(SYS_munmap, memory, size);
    if (result == 0)
        instrument_forget((uint64_t)(uintptr_t)memory, size);
    return result;
}
