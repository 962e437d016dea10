/* splitmix64: the random numbers of the cache model. */
#ifndef TOOLS_CACHE_MODEL_RANDOM_DRAW_H
#define TOOLS_CACHE_MODEL_RANDOM_DRAW_H

#include <stdint.h>

#define RANDOM_DRAW_STEP 0x9e3779b97f4a7c15u

/* The next number of a generator, whose state may be any number. */
static inline uint64_t random_draw(uint64_t *generator)
{
    uint64_t z = *generator += RANDOM_DRAW_STEP;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

#endif
