#include "firmware/riscv/string.h"

#include <stdint.h>

/* Copies words if both sides have the same alignment, as the parts of frames do. */
void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    uint8_t *out = to;
    const uint8_t *in = from;
    if ((((uintptr_t)out | (uintptr_t)in) & 3u) == 0) {
        typedef uint32_t __attribute__((may_alias)) word;
        for (; size >= 4; size -= 4, out += 4, in += 4)
            *(word *)(void *)out = *(const word *)(const void *)in;
    }
    for (; size > 0; size--)
        *out++ = *in++;
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    uint8_t *out = to;
    const uint8_t *in = from;
    if ((uintptr_t)out - (uintptr_t)in >= size)
        return memcpy(to, from, size);
    while (size-- > 0)
        out[size] = in[size];
    return to;
}

void *memset(void *to, int value, size_t size)
{
    uint8_t *out = to;
    while (size-- > 0)
        *out++ = (uint8_t)value;
    return to;
}

int memcmp(const void *left, const void *right, size_t size)
{
    const uint8_t *a = left, *b = right;
    for (; size > 0; size--, a++, b++)
        if (*a != *b)
            return *a < *b ? -1 : 1;
    return 0;
}
