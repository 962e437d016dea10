/*
 * Growing byte strings of numbers, seven bits a byte, the lowest first; the highest bit says that
 * more follow (LEB128). Part of the binary WET format: doc/wet-file.md, "Numbers".
 */
#ifndef FORMATS_WET_WET_BYTES_H
#define FORMATS_WET_WET_BYTES_H

#include "formats/base/grow.h"

#include <stdbool.h>

#define WET_NUMBER_BYTES 10u /* maximum of a number */

/* Zeroed is empty. The caller frees bytes. */
struct wet_bytes {
    uint8_t *bytes;
    size_t size, capacity;
    bool out_of_memory; /* something was not appended */
};

static inline void wet_bytes_put(struct wet_bytes *to, uint64_t number)
{
    if (to->capacity - to->size < WET_NUMBER_BYTES) {
        uint8_t *larger = grow_array(to->bytes, &to->capacity, to->size + WET_NUMBER_BYTES, 1);
        if (!larger) {
            to->out_of_memory = true;
            return;
        }
        to->bytes = larger;
    }
    for (; number >= 0x80; number >>= 7)
        to->bytes[to->size++] = (uint8_t)(number | 0x80);
    to->bytes[to->size++] = (uint8_t)number;
}

/* Small numbers of either sign become small ones: 0, -1, 1, -2 ... become 0, 1, 2, 3 ... */
static inline uint64_t wet_zigzag(uint64_t difference)
{
    return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t wet_unzigzag(uint64_t number)
{
    return number >> 1 ^ (number & 1 ? UINT64_MAX : 0);
}

/* Bytes of a number. */
static inline unsigned wet_number_size(uint64_t number)
{
    unsigned size = 1;
    for (; number >= 0x80; number >>= 7)
        size++;
    return size;
}

/* What is still to be read. */
struct wet_cursor {
    const uint8_t *at, *end;
    bool failed; /* a number was cut off, or of more than 64 bits; later ones are 0 */
};

/* `size` bytes from an offset on, and all; there may be none. */
static inline struct wet_cursor wet_cursor_at(const struct wet_bytes *bytes, size_t offset,
                                              size_t size)
{
    if (!bytes->bytes)
        return (struct wet_cursor){.at = NULL};
    return (struct wet_cursor){.at = bytes->bytes + offset, .end = bytes->bytes + offset + size};
}

static inline struct wet_cursor wet_cursor_of(const struct wet_bytes *bytes)
{
    return wet_cursor_at(bytes, 0, bytes->size);
}

static inline uint64_t wet_cursor_get(struct wet_cursor *from)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && from->at < from->end; shift += 7) {
        const uint8_t byte = *from->at++;
        if (shift == 63 && byte > 1)
            break;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
    from->failed = true;
    from->at = from->end;
    return 0;
}

#endif
