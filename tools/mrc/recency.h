/*
 * The LRU order of lines, and the number of lines referenced since a given one. Each slot of time
 * has a bit, which is set if the slot is some line's last reference. Levels of counts above the
 * bits make a rank one population count and one load for each level. Clearing a bit decrements a
 * row of counts at each level, which takes a few vector operations.
 */
#ifndef TOOLS_MRC_RECENCY_H
#define TOOLS_MRC_RECENCY_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECENCY_WORD_BITS  6u  /* log2 of the slots of a word of bits */
#define RECENCY_ROW_BITS   11u /* log2 of the slots of a row of 32 counts of words */
#define RECENCY_LEVEL_BITS 4u  /* log2 of the rows that each level above combines */
#define RECENCY_LEVELS_MAX 5u
#define RECENCY_SLOTS_MIN  2048u
#define RECENCY_SLOTS_MAX  (1u << 31)

struct recency {
    void *memory; /* allocation of all the arrays below */
    size_t bytes;
    uint64_t *bits;
    uint16_t *words;                    /* set bits before each word, within its row */
    uint32_t *rows[RECENCY_LEVELS_MAX]; /* set bits before each row, within the row of rows above
                                           it; and so on */
    unsigned levels;
    uint32_t slots; /* a power of two */
    uint32_t next;  /* slot of the next reference; slot 0 is unused */
    uint32_t live;  /* number of set bits */
};

/* Initialises with `live` lines in the slots 1 to live, of `slots`. A struct in use must be freed
 * first. 0 or BT_MEMORY, after which *recency is unchanged. */
int recency_init(struct recency *recency, uint32_t slots, uint32_t live, struct bt_error *error);
void recency_free(struct recency *recency);

/* Number of lines whose last reference is before the slot. levels is recency->levels, passed so
 * that it can be a constant. */
static inline __attribute__((always_inline)) uint32_t recency_rank(const struct recency *recency,
                                                                   uint32_t slot, unsigned levels)
{
    const uint32_t word = slot >> RECENCY_WORD_BITS;
    uint32_t rank = recency->words[word];
    rank +=
        (uint32_t)__builtin_popcountll(recency->bits[word] & ((UINT64_C(1) << (slot & 63)) - 1));
    for (unsigned level = 0; level < levels; level++)
        rank += recency->rows[level][slot >> (RECENCY_ROW_BITS + RECENCY_LEVEL_BITS * level)];
    return rank;
}

/* A row whose elements from `distance` on are ones. */
extern const uint16_t recency_ones16[64];
extern const uint32_t recency_ones32[32];

static inline __attribute__((always_inline)) void recency_lower16(uint16_t *restrict row,
                                                                  const uint16_t *restrict ones)
{
    for (unsigned i = 0; i < 32; i++)
        row[i] = (uint16_t)(row[i] - ones[i]);
}

static inline __attribute__((always_inline)) void recency_lower32(uint32_t *restrict row,
                                                                  const uint32_t *restrict ones)
{
    for (unsigned i = 0; i < 16; i++)
        row[i] -= ones[i];
}

/* Clears a slot's bit, which is set; returns its rank. The caller updates `live`. */
static inline __attribute__((always_inline)) uint32_t recency_remove(const struct recency *recency,
                                                                     uint32_t slot, unsigned levels)
{
    const uint32_t rank = recency_rank(recency, slot, levels);
    const uint32_t word = slot >> RECENCY_WORD_BITS;
    recency->bits[word] ^= UINT64_C(1) << (slot & 63);
    recency_lower16(recency->words + (word & ~31u), recency_ones16 + 31 - (word & 31));
    for (unsigned level = 0; level < levels; level++) {
        const uint32_t row = slot >> (RECENCY_ROW_BITS + RECENCY_LEVEL_BITS * level);
        recency_lower32(recency->rows[level] + (row & ~15u), recency_ones32 + 15 - (row & 15));
    }
    return rank;
}

/* Sets the counts before the word that begins with the next slot; call when `next` reaches it. */
void recency_enter(struct recency *recency);

#endif
