/*
 * The model of the sequence of templates: the next one is predicted from the templates before it.
 * Used by the encoder and the decoder alike (bit_coder_internal.h). doc/block-codec.md, "Sequence",
 * specifies it.
 */
#ifndef FORMATS_BLOCKS_BLOCK_SEQUENCE_INTERNAL_H
#define FORMATS_BLOCKS_BLOCK_SEQUENCE_INTERNAL_H

#include "formats/blocks/block_places_internal.h"

#define BLOCK_NONE UINT32_MAX /* no template */

/* The template that followed a context last, and how often in a row, up to a limit. */
struct block_successor {
    uint32_t number; /* template + 1; 0: none */
    uint32_t confidence;
};

#define BLOCK_CONFIDENCE_MAX 15u
#define BLOCK_ORDERS         3u

/* Tables have 1 << bits elements; the owner allocates and empties them. */
struct block_sequence {
    unsigned bits;
    struct block_successor *by[BLOCK_ORDERS]; /* by the last template, the last 2, and the last 6 */
    uint32_t *seconds; /* by the last template: its successor before the current one; + 1 */
    uint64_t context[BLOCK_ORDERS];
    struct bit_model guess[BLOCK_ORDERS][BLOCK_CONFIDENCE_MAX + 1][4];
    struct bit_model second[BLOCK_ORDERS + 1];
    struct bit_model fresh[BLOCK_ORDERS + 1];
};

BIT_CODER_INLINE size_t block_sequence_slot(const struct block_sequence *model, uint64_t context)
{
    return (size_t)(context * BLOCK_HASH_1 >> (64 - model->bits));
}

BIT_CODER_INLINE void block_sequence_learn(struct block_sequence *model,
                                           struct block_successor *const entries[BLOCK_ORDERS],
                                           uint32_t *second, uint32_t found)
{
    if (entries[0]->number != found && entries[0]->number)
        *second = entries[0]->number;
    for (unsigned i = 0; i < BLOCK_ORDERS; i++) {
        struct block_successor *entry = entries[i];
        if (entry->number == found) {
            entry->confidence += entry->confidence < BLOCK_CONFIDENCE_MAX;
        } else if (entry->confidence > 1 && i > 0) {
            entry->confidence /= 2;
        } else {
            entry->number = found;
            entry->confidence = 0;
        }
    }
    uint64_t mixed = found * BLOCK_HASH_2 >> 32;
    model->context[0] = found;
    model->context[1] = ((model->context[1] << 11) + mixed) & 0xffffff;
    model->context[2] = ((model->context[2] << 5) + mixed) & 0x3fffffff;
}

/* A template that no guess gives: the next new one, or the number of an old one. */
BIT_CODER_INLINE uint32_t block_sequence_escape(bool decode, struct bit_coder *coder,
                                                struct bit_model *fresh, uint32_t *count,
                                                uint32_t number)
{
    if (bit_code(decode, coder, fresh, number == *count))
        return ++*count;
    unsigned bits = *count > 1 ? 32 - (unsigned)__builtin_clz(*count - 1) : 0;
    return (uint32_t)bit_code_plain(decode, coder, bits, number) + 1;
}

/*
 * The number of the next template. *count is how many have been used, and grows with a new one. A
 * damaged stream gives numbers that are not below it.
 */
BIT_CODER_INLINE uint32_t block_sequence_next(bool decode, struct bit_coder *coder,
                                              struct block_sequence *model, uint32_t *count,
                                              uint32_t number)
{
    struct block_successor *entries[BLOCK_ORDERS];
    for (unsigned i = 0; i < BLOCK_ORDERS; i++)
        entries[i] = &model->by[i][block_sequence_slot(model, model->context[i])];
    uint32_t *second = &model->seconds[block_sequence_slot(model, model->context[0])];
    uint32_t found = 0, tried[BLOCK_ORDERS];
    unsigned tries = 0;
    for (unsigned i = BLOCK_ORDERS; i-- > 0 && !found;) {
        uint32_t guess = entries[i]->number;
        bool again = guess == 0;
        for (unsigned k = 0; k < tries; k++)
            again = again || tried[k] == guess;
        if (again)
            continue;
        unsigned agree = (unsigned)(entries[0]->number == guess) +
                         2 * (unsigned)(entries[i > 0 ? i - 1 : 0]->number == guess);
        if (!bit_code(decode, coder, &model->guess[i][entries[i]->confidence][agree],
                      number + 1 != guess))
            found = guess;
        else
            tried[tries++] = guess;
    }
    if (!found && *second && !bit_code(decode, coder, &model->second[tries], number + 1 != *second))
        found = *second;
    if (!found)
        found = block_sequence_escape(decode, coder, &model->fresh[tries], count, number);
    block_sequence_learn(model, entries, second, found);
    return found - 1;
}

#endif
