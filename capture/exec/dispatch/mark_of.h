/* Finds the markers of mark.h in a program's code. */
#ifndef CAPTURE_EXEC_DISPATCH_MARK_OF_H
#define CAPTURE_EXEC_DISPATCH_MARK_OF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MARK_BYTES 8u

enum mark { MARK_NONE, MARK_BEGIN, MARK_END };

/* Which marker the instruction at `bytes` is; `size` bytes are readable. */
static inline enum mark mark_of(const uint8_t *bytes, size_t size)
{
    static const uint8_t begin[MARK_BYTES] = {0x0f, 0x1f, 0x84, 0, 'b', 't', 'B', '1'};
    static const uint8_t end[MARK_BYTES] = {0x0f, 0x1f, 0x84, 0, 'b', 't', 'E', '1'};
    if (size < MARK_BYTES)
        return MARK_NONE;
    return memcmp(bytes, begin, MARK_BYTES) == 0 ? MARK_BEGIN
           : memcmp(bytes, end, MARK_BYTES) == 0 ? MARK_END
                                                 : MARK_NONE;
}

#endif
