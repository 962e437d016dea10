/*
 * The model of addresses: a place is a data reference of an instruction, and each of its addresses
 * is guessed in several ways. Used by the encoder and the decoder alike (bit_coder_internal.h).
 * doc/block-codec.md, "Addresses", specifies it.
 */
#ifndef FORMATS_BLOCKS_BLOCK_PLACES_INTERNAL_H
#define FORMATS_BLOCKS_BLOCK_PLACES_INTERNAL_H

#include "formats/blocks/bit_coder_internal.h"

#include <string.h>

/* Multipliers of hashes, also those of the other models. */
#define BLOCK_HASH_1 UINT64_C(0x9e3779b97f4a7c15)
#define BLOCK_HASH_2 UINT64_C(0xd6e8feb86659fd93)

/* Ways to guess an address. */
enum block_guess {
    BLOCK_GUESS_STRIDE,  /* the place's last one, plus its stride */
    BLOCK_GUESS_POINTER, /* what this place had after the address before it */
    BLOCK_GUESS_SIBLING, /* as far from the address before it as last time */
    BLOCK_GUESS_CALLER,  /* as far from its last one as last time from that block */
    BLOCK_GUESSES
};

/* What is known of a place. */
struct block_place {
    uint64_t last;
    uint64_t stride;              /* last minus the one before it, if that was so twice */
    uint64_t step;                /* last minus the one before it */
    uint64_t sibling;             /* last minus the address before it */
    uint8_t order[BLOCK_GUESSES]; /* guesses, the most recently right one first */
    uint8_t length;               /* of the last difference that was written */
    uint8_t known;                /* whether it has a last address */
    uint8_t right;                /* bits: whether the first guess was right, the last 3 times */
    struct bit_model first[8];
    struct bit_model next[BLOCK_GUESSES]; /* after each wrong guess */
};

#define BLOCK_LENGTHS 65u

/* Models of differences: their length in bits, and the bits below the highest. */
struct block_differences {
    struct bit_model length[17][128];
    struct bit_model sign[BLOCK_LENGTHS];
    struct bit_model low[BLOCK_LENGTHS][16], high[BLOCK_LENGTHS][16];
};

/* Tables have 1 << bits elements; the owner allocates and empties them. */
struct block_addresses {
    uint64_t before; /* the address before */
    struct block_differences differences;
    unsigned bits;
    uint64_t *pointers, *callers;
};

BIT_CODER_INLINE void block_place_reset(struct block_place *place)
{
    memset(place, 0, sizeof *place);
    for (unsigned i = 0; i < BLOCK_GUESSES; i++)
        place->order[i] = (uint8_t)i;
    bit_models_reset(place->first, 8);
    bit_models_reset(place->next, BLOCK_GUESSES);
}

BIT_CODER_INLINE void block_differences_reset(struct block_differences *differences)
{
    bit_models_reset(differences->length[0], sizeof differences->length / sizeof(struct bit_model));
    bit_models_reset(differences->sign, BLOCK_LENGTHS);
    bit_models_reset(differences->low[0], BLOCK_LENGTHS * 16);
    bit_models_reset(differences->high[0], BLOCK_LENGTHS * 16);
}

/* A number and its sign; `context` is 0 to 16. *length gets the number of bits. */
BIT_CODER_INLINE uint64_t block_difference(bool decode, struct bit_coder *coder,
                                           struct block_differences *models, unsigned context,
                                           uint64_t difference, uint8_t *length)
{
    unsigned sign = 0;
    uint64_t number = difference;
    unsigned bits = 0;
    if (!decode) {
        sign = (unsigned)(difference >> 63);
        number = sign ? 0 - difference : difference;
        bits = number ? 64 - (unsigned)__builtin_clzll(number) : 0;
    }
    bits = bit_code_tree(decode, coder, models->length[context], 7, bits);
    if (decode && bits > 64)
        bits = 64; /* only in damaged streams */
    *length = (uint8_t)bits;
    if (bits == 0)
        return 0;
    sign = bit_code(decode, coder, &models->sign[bits], sign);
    unsigned rest = bits - 1, high = rest < 3 ? rest : 3, low = rest - high < 3 ? rest - high : 3;
    uint64_t value = UINT64_C(1) << rest;
    value |= (uint64_t)bit_code_tree(decode, coder, models->high[bits], high,
                                     (unsigned)(number >> (rest - high)) & ((1u << high) - 1))
             << (rest - high);
    if (rest > high + low)
        value |= bit_code_plain(decode, coder, rest - high - low,
                                number >> low & ((UINT64_C(1) << (rest - high - low)) - 1))
                 << low;
    value |=
        bit_code_tree(decode, coder, models->low[bits], low, (unsigned)number & ((1u << low) - 1));
    return sign ? 0 - value : value;
}

BIT_CODER_INLINE size_t block_address_slot(const struct block_addresses *model, uint64_t key,
                                           uint64_t more)
{
    return (size_t)((key * BLOCK_HASH_1 + more) * BLOCK_HASH_2 >> (64 - model->bits));
}

/* Keeps what an address says for the guesses after it. */
BIT_CODER_INLINE void block_address_learn(struct block_addresses *model, struct block_place *place,
                                          uint64_t *pointer, uint64_t *called, uint64_t address)
{
    uint64_t step = address - place->last;
    if (step == place->step)
        place->stride = step;
    place->step = step;
    place->sibling = address - model->before;
    *pointer = address;
    *called = step;
    place->last = address;
    model->before = address;
}

/* Moves a guess to the front. */
BIT_CODER_INLINE void block_place_prefer(struct block_place *place, unsigned rank)
{
    uint8_t chosen = place->order[rank];
    for (unsigned i = rank; i > 0; i--)
        place->order[i] = place->order[i - 1];
    place->order[0] = chosen;
}

/* An address of place `number`, in the execution after that of template `caller`. */
BIT_CODER_INLINE uint64_t block_address(bool decode, struct bit_coder *coder,
                                        struct block_addresses *model, struct block_place *place,
                                        uint32_t number, uint32_t caller, uint64_t address)
{
    uint64_t *pointer = &model->pointers[block_address_slot(model, model->before, number)];
    uint64_t *called = &model->callers[block_address_slot(model, caller, number)];
    if (!place->known) {
        place->known = 1;
        place->last = model->before;
    }
    const uint64_t guesses[BLOCK_GUESSES] = {
        [BLOCK_GUESS_STRIDE] = place->last + place->stride,
        [BLOCK_GUESS_POINTER] = *pointer,
        [BLOCK_GUESS_SIBLING] = model->before + place->sibling,
        [BLOCK_GUESS_CALLER] = place->last + *called,
    };
    struct bit_model *models = &place->first[place->right];
    unsigned rank = 0;
    bool wrong = true;
    for (; rank < BLOCK_GUESSES; rank++) {
        uint64_t guess = guesses[place->order[rank]];
        bool again = false;
        for (unsigned i = 0; i < rank; i++)
            again = again || guesses[place->order[i]] == guess;
        if (again)
            continue;
        wrong = bit_code(decode, coder, models, guess != address);
        if (!wrong) {
            address = guess;
            break;
        }
        models = &place->next[rank];
    }
    place->right = (uint8_t)((place->right << 1 | (!wrong && rank == 0)) & 7);
    if (wrong)
        address = block_difference(decode, coder, &model->differences, (place->length + 3u) / 4,
                                   address - place->last, &place->length) +
                  place->last;
    else if (rank > 0)
        block_place_prefer(place, rank);
    block_address_learn(model, place, pointer, called, address);
    return address;
}

#endif
