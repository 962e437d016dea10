/* Random numbers that are the same on every machine, for property tests. */
#ifndef TESTS_SUPPORT_RANDOM_H
#define TESTS_SUPPORT_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* xorshift64*; the state must not be 0. */
static inline uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

/* A number from 0 to below - 1. */
static inline uint64_t random_below(uint64_t *state, uint64_t below)
{
    return (random_next(state) >> 11) % below;
}

/* A state from any seed, 0 too. */
static inline uint64_t random_seed(uint64_t seed)
{
    return seed * 0x9e3779b97f4a7c15u | 1u;
}

static inline uint32_t random_next32(uint64_t *state)
{
    return (uint32_t)(random_next(state) >> 32);
}

/* True once in n times. */
static inline bool random_one_in(uint64_t *state, uint64_t n)
{
    return random_below(state, n) == 0;
}

static inline void random_fill(uint64_t *state, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)random_next32(state);
}

#endif
