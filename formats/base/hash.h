/* A hash of octets with a seed per run: no file can contain keys that are made to collide. */
#ifndef FORMATS_BASE_HASH_H
#define FORMATS_BASE_HASH_H

#include "formats/base/clock.h"

#include <stddef.h>
#include <stdint.h>

/* A seed for hash_octets; address is that of the hash's owner. */
static inline uint64_t hash_seed(const void *address)
{
    return (uint64_t)clock_realtime_ns() * 0x9e3779b97f4a7c15u ^ (uint64_t)(uintptr_t)address;
}

static inline uint64_t hash_octets(uint64_t seed, const char *octets, size_t size)
{
    uint64_t hash = seed;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ (unsigned char)octets[i]) * 0x9fb21c651e98df25u;
        hash ^= hash >> 29;
    }
    return hash;
}

#endif
