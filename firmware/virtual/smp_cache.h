/* A write-back cache's directory: the lines it holds and their MESI states, without data. */
#ifndef FIRMWARE_VIRTUAL_SMP_CACHE_H
#define FIRMWARE_VIRTUAL_SMP_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define SMP_LINE_BYTES 32u
#define SMP_CACHE_SETS 128u /* of two ways: 8 KiB, as in the first P6 processors */
#define SMP_CACHE_WAYS 2u

enum smp_state { SMP_INVALID, SMP_SHARED, SMP_EXCLUSIVE, SMP_MODIFIED };
#define SMP_STATE_MASK 3u

/* A line's address with its state in the low bits; 0 is empty. */
typedef uint32_t smp_line;

struct smp_cache {
    smp_line lines[SMP_CACHE_SETS][SMP_CACHE_WAYS]; /* the most recently used way comes first */
};

static inline enum smp_state smp_line_state(smp_line line)
{
    return (enum smp_state)(line & SMP_STATE_MASK);
}

static inline uint32_t smp_line_address(smp_line line)
{
    return line & ~(SMP_LINE_BYTES - 1u);
}

/* Whether the line is valid and holds address. */
static inline bool smp_line_holds(smp_line line, uint32_t address)
{
    return smp_line_address(line ^ address) == 0 && smp_line_state(line) != SMP_INVALID;
}

/* The line that holds address, or NULL; does not count as a use. */
smp_line *smp_cache_find(struct smp_cache *cache, uint32_t address);

/* As smp_cache_find, and makes the line the most recently used of its set. */
smp_line *smp_cache_use_slow(struct smp_cache *cache, uint32_t address);
static inline smp_line *smp_cache_use(struct smp_cache *cache, uint32_t address)
{
    /* Most uses are of the most recently used line. */
    smp_line *set = cache->lines[address / SMP_LINE_BYTES % SMP_CACHE_SETS];
    return smp_line_holds(set[0], address) ? &set[0] : smp_cache_use_slow(cache, address);
}

/* Inserts a line, and returns the least recently used line of its set, which it replaces. */
smp_line smp_cache_put(struct smp_cache *cache, uint32_t address, enum smp_state state);

#endif
