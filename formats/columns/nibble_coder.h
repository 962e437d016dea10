/*
 * An entropy coder of nibbles with adaptive probabilities. A model holds the cumulative frequencies
 * of the 16 values; each coded value moves them towards itself, quickly at first. The code is rANS
 * with a state of 64 bits, written in chunks of NIBBLE_CHUNK values because rANS writes backwards.
 * Integer arithmetic only: the result is the same on every processor.
 */
#ifndef FORMATS_COLUMNS_NIBBLE_CODER_H
#define FORMATS_COLUMNS_NIBBLE_CODER_H

#include "formats/base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define NIBBLE_SCALE_BITS 15u
#define NIBBLE_CHUNK      65536u
#define NIBBLE_STATE_LOW  ((uint64_t)1 << 31)

/* below[v] is the frequency of values less than v, of 1 << NIBBLE_SCALE_BITS; below[0] is 0. */
struct nibble_model {
    _Alignas(32) int16_t below[16];
};

/* Models by number. The counts are apart from them: a vector that was written in parts is slow to
 * read. */
struct nibble_models {
    struct nibble_model *models;
    uint8_t *counts; /* of values coded, up to 63 */
};

/* What a value moves the frequencies towards; [value][i]. */
extern const int16_t nibble_targets[16][16];

/* How far: the right shift of the difference, by the count of values coded. */
extern const uint8_t nibble_rates[64];

struct nibble_coder {
    /* Encoding: the intervals of this chunk, first value and frequency in 16 bits each. */
    uint32_t *intervals;
    uint8_t *out, *out_end; /* out: NULL after the output was too large */
    /* Decoding. */
    uint64_t state;
    const uint8_t *in, *in_end;
    bool damaged;   /* the bytes end early or a chunk does not end as it must */
    size_t pending; /* values in this chunk: coded, or still to be decoded */
};

#define NIBBLE_MODEL_BYTES (sizeof(struct nibble_model) + 1)

/* Room for count models; false without memory. Free with nibble_models_free. */
bool nibble_models_init(struct nibble_models *models, size_t count);
void nibble_models_free(struct nibble_models *models);

/* Uniform probabilities. */
void nibble_models_clear(struct nibble_models *models, size_t count);

/* Starts encoding to capacity bytes; intervals has NIBBLE_CHUNK elements and remains the caller's.
 */
void nibble_encode_begin(struct nibble_coder *coder, uint32_t *intervals, uint8_t *out,
                         size_t capacity);

/* Writes the rest. Returns the end of the output, NULL if it did not fit. */
uint8_t *nibble_encode_end(struct nibble_coder *coder);

/* Starts decoding; the bytes remain the caller's. */
void nibble_decode_begin(struct nibble_coder *coder, const uint8_t *in, size_t size);

/* Whether what was decoded is exactly what was encoded. */
bool nibble_decode_end(const struct nibble_coder *coder);

void nibble_encode_chunk(struct nibble_coder *coder);
void nibble_decode_chunk(struct nibble_coder *coder);

/* The value whose interval contains position. */
static inline unsigned nibble_find(const struct nibble_model *model, unsigned position)
{
#ifdef __SSE2__
    const __m128i wanted = _mm_set1_epi16((int16_t)position);
    const __m128i low = _mm_load_si128((const __m128i *)model->below);
    const __m128i high = _mm_load_si128((const __m128i *)(model->below + 8));
    const __m128i above =
        _mm_packs_epi16(_mm_cmpgt_epi16(low, wanted), _mm_cmpgt_epi16(high, wanted));
    return (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8(above) >> 1 | 1u << 15);
#else
    unsigned value = 0;
    for (unsigned i = 1; i < 16; i++)
        value += model->below[i] <= (int16_t)position;
    return value;
#endif
}

/* Moves the frequencies towards the value. */
static inline void nibble_adapt(struct nibble_model *model, uint8_t *counts, unsigned value)
{
    const unsigned count = *counts;
    const int rate = nibble_rates[count];
    const int16_t *targets = nibble_targets[value];
#ifdef __SSE2__
    const __m128i shift = _mm_cvtsi32_si128(rate);
    for (unsigned i = 0; i < 16; i += 8) {
        __m128i *at = (__m128i *)(model->below + i);
        const __m128i below = _mm_load_si128(at);
        const __m128i target = _mm_load_si128((const __m128i *)(targets + i));
        _mm_store_si128(at,
                        _mm_add_epi16(below, _mm_sra_epi16(_mm_sub_epi16(target, below), shift)));
    }
#else
    for (unsigned i = 1; i < 16; i++)
        model->below[i] = (int16_t)(model->below[i] + ((targets[i] - model->below[i]) >> rate));
#endif
    *counts = (uint8_t)(count + (count < 63));
}

/* The first position of a value, and its frequency, which is never that of all together. */
static inline unsigned nibble_first(const struct nibble_model *model, unsigned value)
{
    return (unsigned)model->below[value];
}

static inline unsigned nibble_frequency(const struct nibble_model *model, unsigned value)
{
    return ((unsigned)model->below[(value + 1) & 15] - nibble_first(model, value)) &
           ((1u << NIBBLE_SCALE_BITS) - 1);
}

/* Encodes a value, 0 to 15. */
static inline void nibble_encode(struct nibble_coder *coder, const struct nibble_models *models,
                                 size_t number, unsigned value)
{
    struct nibble_model *model = &models->models[number];
    coder->intervals[coder->pending++] =
        nibble_first(model, value) << 16 | nibble_frequency(model, value);
    nibble_adapt(model, &models->counts[number], value);
    if (coder->pending == NIBBLE_CHUNK)
        nibble_encode_chunk(coder);
}

/* Decodes a value; any value after damage. */
static inline unsigned nibble_decode(struct nibble_coder *coder, const struct nibble_models *models,
                                     size_t number)
{
    struct nibble_model *model = &models->models[number];
    if (coder->pending == 0)
        nibble_decode_chunk(coder);
    coder->pending--;
    const unsigned position = (unsigned)(coder->state & ((1u << NIBBLE_SCALE_BITS) - 1));
    const unsigned value = nibble_find(model, position);
    coder->state = (coder->state >> NIBBLE_SCALE_BITS) * nibble_frequency(model, value) + position -
                   nibble_first(model, value);
    if (coder->state < NIBBLE_STATE_LOW) {
        if (coder->in_end - coder->in >= 4) {
            coder->state = coder->state << 32 | bytes_get32(coder->in);
            coder->in += 4;
        } else {
            coder->damaged = true;
            coder->state = NIBBLE_STATE_LOW;
        }
    }
    nibble_adapt(model, &models->counts[number], value);
    return value;
}

#endif
