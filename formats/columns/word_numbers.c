#include "formats/columns/word_numbers.h"

#include <stdlib.h>
#include <string.h>

#define USED_MOST 768u /* of the slots: probing stays short */

void word_numbers_clear(struct word_numbers *numbers)
{
    memset(numbers->slot_counts, 0, sizeof numbers->slot_counts);
    numbers->used = 0;
    numbers->count = 0;
}

/* The slot of a word, or the free one where it belongs. */
static unsigned find_slot(const struct word_numbers *numbers, uint32_t word)
{
    unsigned slot = word * UINT32_C(0x9e3779b1) >> 22;
    while (numbers->slot_counts[slot] > 0 && numbers->slot_words[slot] != word)
        slot = (slot + 1) % WORD_SLOTS;
    return slot;
}

void word_numbers_count(struct word_numbers *numbers, uint32_t word)
{
    const unsigned slot = find_slot(numbers, word);
    if (numbers->slot_counts[slot] == 0) {
        if (numbers->used == USED_MOST)
            return;
        numbers->used++;
        numbers->slot_words[slot] = word;
    }
    numbers->slot_counts[slot]++;
}

struct counted_word {
    uint32_t word, count;
};

/* The most frequent first; equal ones by value, so that the order depends on the words only. */
static int compare_words(const void *a, const void *b)
{
    const struct counted_word *first = a;
    const struct counted_word *second = b;
    if (first->count != second->count)
        return first->count < second->count ? 1 : -1;
    return (first->word > second->word) - (first->word < second->word);
}

void word_numbers_assign(struct word_numbers *numbers)
{
    struct counted_word counted[WORD_SLOTS];
    unsigned used = 0;
    for (unsigned slot = 0; slot < WORD_SLOTS; slot++)
        if (numbers->slot_counts[slot] > 0)
            counted[used++] =
                (struct counted_word){numbers->slot_words[slot], numbers->slot_counts[slot]};
    qsort(counted, used, sizeof *counted, compare_words);
    numbers->count = used < WORD_NUMBERS_MOST ? used : WORD_NUMBERS_MOST;
    for (unsigned i = 0; i < used; i++) {
        numbers->slot_numbers[find_slot(numbers, counted[i].word)] =
            (uint8_t)(i < numbers->count ? i : WORD_NUMBER_NONE);
        if (i < numbers->count)
            numbers->words[i] = counted[i].word;
    }
}

unsigned word_numbers_find(const struct word_numbers *numbers, uint32_t word)
{
    const unsigned slot = find_slot(numbers, word);
    return numbers->slot_counts[slot] > 0 ? numbers->slot_numbers[slot] : WORD_NUMBER_NONE;
}

/* The count, then each word in groups of 7 bits, the low ones first; the last has no bit 7. */
size_t word_numbers_put(const struct word_numbers *numbers, uint8_t *bytes)
{
    size_t size = 0;
    bytes[size++] = (uint8_t)numbers->count;
    for (unsigned i = 0; i < numbers->count; i++) {
        uint32_t word = numbers->words[i];
        for (; word > 127; word >>= 7)
            bytes[size++] = (uint8_t)(word | 128);
        bytes[size++] = (uint8_t)word;
    }
    return size;
}

size_t word_numbers_get(struct word_numbers *numbers, const uint8_t *bytes, size_t size)
{
    memset(numbers->words, 0, sizeof numbers->words);
    if (size < 1)
        return 0;
    numbers->count = bytes[0];
    size_t at = 1;
    for (unsigned i = 0; i < numbers->count; i++) {
        unsigned shift = 0;
        do {
            if (at == size || shift > 28)
                return 0;
            numbers->words[i] |= (uint32_t)(bytes[at] & 127) << shift;
            shift += 7;
        } while (bytes[at++] & 128);
    }
    return at;
}
