/* Random numbers for simulated buses: reproducible on every machine. */
#ifndef FIRMWARE_VIRTUAL_RANDOM_H
#define FIRMWARE_VIRTUAL_RANDOM_H

#include <stdint.h>

/* Marsaglia's xorshift with a multiplication (xorshift64*); the state must not be 0. */
static inline uint64_t virtual_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* A number from 0 to below - 1; below < 2^32. */
static inline uint32_t virtual_random_below(uint64_t *state, uint32_t below)
{
    return (uint32_t)((virtual_random(state) >> 32) * below >> 32);
}

#endif
