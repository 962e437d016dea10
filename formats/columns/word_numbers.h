/*
 * The words of a member, numbered by frequency: kinds of records, times. The first 255 have
 * numbers; the others are given in full where they occur.
 */
#ifndef FORMATS_COLUMNS_WORD_NUMBERS_H
#define FORMATS_COLUMNS_WORD_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#define WORD_NUMBERS_MOST  255u
#define WORD_NUMBER_NONE   255u /* the number of a word that has none */
#define WORD_NUMBERS_BYTES (1 + 5 * WORD_NUMBERS_MOST)
#define WORD_SLOTS         1024u

struct word_numbers {
    uint32_t words[WORD_NUMBERS_MOST]; /* by number */
    unsigned count;
    /* Encoding: a hash table of words. */
    unsigned used;
    uint32_t slot_words[WORD_SLOTS];
    uint32_t slot_counts[WORD_SLOTS]; /* 0: free */
    uint8_t slot_numbers[WORD_SLOTS];
};

/* Begins to count. */
void word_numbers_clear(struct word_numbers *numbers);

/* Counts a word; at most some hundred different ones, which is enough for the frequent ones. */
void word_numbers_count(struct word_numbers *numbers, uint32_t word);

/* Numbers what was counted: the most frequent word is 0. */
void word_numbers_assign(struct word_numbers *numbers);

/* The number of a word after word_numbers_assign, WORD_NUMBER_NONE if it has none. */
unsigned word_numbers_find(const struct word_numbers *numbers, uint32_t word);

/* Writes up to WORD_NUMBERS_BYTES bytes; returns their number. */
size_t word_numbers_put(const struct word_numbers *numbers, uint8_t *bytes);

/* Reads numbers for decoding; returns the bytes used, 0 if they are corrupt. */
size_t word_numbers_get(struct word_numbers *numbers, const uint8_t *bytes, size_t size);

#endif
