/*
 * A binary arithmetic coder with adaptive probabilities. Each function works in both directions:
 * `decode` is a constant where it is inlined, so that a model written once gives the coder and the
 * decoder. doc/block-codec.md, "Bits", specifies it.
 */
#ifndef FORMATS_BLOCKS_BIT_CODER_INTERNAL_H
#define FORMATS_BLOCKS_BIT_CODER_INTERNAL_H

#include "formats/base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BIT_CODER_INLINE static inline __attribute__((always_inline))

/* The probability of a 0, times 65536, and how many bits it has seen, up to a limit. */
struct bit_model {
    uint16_t zero;
    uint16_t seen;
};

#define BIT_MODEL_SEEN_MAX 10u

BIT_CODER_INLINE void bit_models_reset(struct bit_model *models, size_t count)
{
    for (size_t i = 0; i < count; i++)
        models[i] = (struct bit_model){.zero = 32768};
}

/* The rate falls while a model is young, so that it learns from its first bits. */
BIT_CODER_INLINE void bit_model_update(struct bit_model *model, unsigned bit)
{
    static const uint8_t shifts[BIT_MODEL_SEEN_MAX + 1] = {1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5};
    unsigned shift = shifts[model->seen];
    model->seen = (uint16_t)(model->seen + (model->seen < BIT_MODEL_SEEN_MAX));
    unsigned target = bit ? 16 : 65520;
    model->zero = (uint16_t)(model->zero + (((int)target - (int)model->zero) >> shift));
}

/* One stream. An encoder writes to [start, end), which the caller makes large enough; a decoder
 * reads zeros after the end, BIT_CODER_END_BYTES at most: bit_decoder_spent(). */
struct bit_coder {
    uint64_t low; /* of a decoder: what was read, minus the lower end of the interval */
    uint64_t range;
    uint8_t *out;
    const uint8_t *in, *end;
    uint8_t *start;
};

BIT_CODER_INLINE uint32_t bit_coder_word(struct bit_coder *coder)
{
    uint32_t word = 0;
    if (coder->end - coder->in >= 4)
        word = bytes_get32(coder->in);
    else
        for (int i = 0; i < coder->end - coder->in; i++)
            word |= (uint32_t)coder->in[i] << (8 * i);
    coder->in += 4;
    return word;
}

BIT_CODER_INLINE void bit_coder_carry(struct bit_coder *coder)
{
    uint32_t word = 0;
    for (uint8_t *at = coder->out; word == 0 && at > coder->start;) {
        at -= 4;
        word = bytes_get32(at) + 1;
        bytes_put32(at, word);
    }
}

BIT_CODER_INLINE void bit_coder_normalize(bool decode, struct bit_coder *coder)
{
    if (__builtin_expect(coder->range >> 32 != 0, 1))
        return;
    coder->range <<= 32;
    if (decode) {
        coder->low = coder->low << 32 | bit_coder_word(coder);
    } else {
        bytes_put32(coder->out, (uint32_t)(coder->low >> 32));
        coder->out += 4;
        coder->low <<= 32;
    }
}

/* Encodes the bit, or returns the decoded one. */
BIT_CODER_INLINE unsigned bit_code(bool decode, struct bit_coder *coder, struct bit_model *model,
                                   unsigned bit)
{
    uint64_t bound = (coder->range >> 16) * model->zero;
    if (decode)
        bit = coder->low >= bound;
    if (bit) {
        coder->range -= bound;
        if (decode) {
            coder->low -= bound;
        } else {
            coder->low += bound;
            if (coder->low < bound)
                bit_coder_carry(coder);
        }
    } else {
        coder->range = bound;
    }
    bit_model_update(model, bit);
    bit_coder_normalize(decode, coder);
    return bit;
}

/* `count` bits with even probabilities; at most 16. */
BIT_CODER_INLINE uint32_t bit_code_even(bool decode, struct bit_coder *coder, unsigned count,
                                        uint32_t value)
{
    uint64_t part = coder->range >> count;
    if (decode) {
        uint64_t quotient = coder->low / part;
        value = quotient >> count ? (1u << count) - 1 : (uint32_t)quotient;
        coder->low -= part * value;
    } else {
        uint64_t add = part * value;
        coder->low += add;
        if (coder->low < add)
            bit_coder_carry(coder);
    }
    coder->range = part;
    bit_coder_normalize(decode, coder);
    return value;
}

/* As many bits as asked for, at most 64, from the lowest. */
BIT_CODER_INLINE uint64_t bit_code_plain(bool decode, struct bit_coder *coder, unsigned count,
                                         uint64_t value)
{
    uint64_t result = 0;
    for (unsigned at = 0; at < count; at += 16) {
        unsigned some = count - at < 16 ? count - at : 16;
        result |= (uint64_t)bit_code_even(decode, coder, some,
                                          (uint32_t)(value >> at) & ((1u << some) - 1))
                  << at;
    }
    return result;
}

/* A value of `count` bits, the highest first, by a tree of 1 << count models. */
BIT_CODER_INLINE unsigned bit_code_tree(bool decode, struct bit_coder *coder,
                                        struct bit_model *models, unsigned count, unsigned value)
{
    unsigned node = 1;
    for (unsigned i = count; i-- > 0;)
        node = node << 1 | bit_code(decode, coder, &models[node], value >> i & 1);
    return node - (1u << count);
}

BIT_CODER_INLINE void bit_encoder_begin(struct bit_coder *coder, uint8_t *out)
{
    *coder = (struct bit_coder){.range = UINT64_MAX, .out = out, .start = out};
}

#define BIT_CODER_END_BYTES 8u

/* Writes what is pending, BIT_CODER_END_BYTES. Returns the size of the stream. */
BIT_CODER_INLINE size_t bit_encoder_end(struct bit_coder *coder)
{
    bytes_put32(coder->out, (uint32_t)(coder->low >> 32));
    bytes_put32(coder->out + 4, (uint32_t)coder->low);
    return (size_t)(coder->out - coder->start) + BIT_CODER_END_BYTES;
}

BIT_CODER_INLINE void bit_decoder_begin(struct bit_coder *coder, const uint8_t *in, size_t size)
{
    *coder = (struct bit_coder){.range = UINT64_MAX, .in = in, .end = in + size};
    coder->low = (uint64_t)bit_coder_word(coder) << 32;
    coder->low |= bit_coder_word(coder);
}

/* Whether more was decoded than the stream holds: it means nothing. */
BIT_CODER_INLINE bool bit_decoder_spent(const struct bit_coder *coder)
{
    return coder->in - coder->end > (ptrdiff_t)BIT_CODER_END_BYTES;
}

#endif
