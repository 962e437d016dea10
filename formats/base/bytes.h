/*
 * Little-endian integers in byte buffers. Wire and file layouts are accessed only through these
 * functions, so that neither alignment nor the host's byte order matters. Freestanding: the
 * firmware uses it.
 */
#ifndef FORMATS_BASE_BYTES_H
#define FORMATS_BASE_BYTES_H

#include <stdint.h>

static inline uint16_t bytes_get16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t bytes_get32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t bytes_get64(const uint8_t *p)
{
    return (uint64_t)bytes_get32(p) | (uint64_t)bytes_get32(p + 4) << 32;
}

static inline void bytes_put16(uint8_t *p, uint16_t value)
{
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
}

static inline void bytes_put32(uint8_t *p, uint32_t value)
{
    bytes_put16(p, (uint16_t)value);
    bytes_put16(p + 2, (uint16_t)(value >> 16));
}

static inline void bytes_put64(uint8_t *p, uint64_t value)
{
    bytes_put32(p, (uint32_t)value);
    bytes_put32(p + 4, (uint32_t)(value >> 32));
}

#endif
