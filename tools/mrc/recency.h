/*
 * The order in which lines were referenced last, and how many were referenced since: a bit for each
 * slot of time, set where that was some line's last reference, and above the bits the counts of
 * those in front, level by level, so that a rank is one population count and a load a level.
 * Removing a bit lowers a row of counts at each level, which is a few vector operations.
 */
#ifndef TOOLS_MRC_RECENCY_H
#define TOOLS_MRC_RECENCY_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECENCY_WORD_BITS  6u  /* slots of a word of bits, */
#define RECENCY_ROW_BITS   11u /* of a row of 32 words' counts, */
#define RECENCY_LEVEL_BITS 4u  /* and 16 times as many a level above */
#define RECENCY_LEVELS_MAX 5u
#define RECENCY_SLOTS_MIN  2048u
#define RECENCY_SLOTS_MAX  (1u << 31)

struct recency {
    void *memory; /* all that follows */
    size_t bytes;
    uint64_t *bits;
    uint16_t *words;                    /* set bits in front of each word, in its row */
    uint32_t *rows[RECENCY_LEVELS_MAX]; /* in front of each row, in its row of rows; and so on */
    unsigned levels;
    uint32_t slots; /* a power of two */
    uint32_t next;  /* the slot of the next reference; slot 0 is nobody's */
    uint32_t live;  /* bits that are set */
};

/* Begins with `live` lines in the slots 1 to live, of `slots`. 0 or BT_MEMORY: then it is as it
 * was. A struct that was used before must have been freed. */
int recency_init(struct recency *recency, uint32_t slots, uint32_t live, struct bt_error *error);
void recency_free(struct recency *recency);

/* So many lines have been referenced before the slot, for the last time. levels is
 * recency->levels, told so that it may be a constant. */
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

/* Ones behind the place that it is entered at the given distance from. */
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

/* Takes a slot's bit away, which is set; its rank. `live` is the caller's to count. */
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

/* Sets the counts in front of the word that begins with the next slot: to be called when `next`
 * comes to it. */
void recency_enter(struct recency *recency);

#endif
