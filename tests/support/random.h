/* Random numbers that are the same on every machine, for property tests. */
#ifndef TESTS_SUPPORT_RANDOM_H
#define TESTS_SUPPORT_RANDOM_H

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

#endif
