/*
 * An entropy coder of nibbles that mixes the predictions of many contexts. Each nibble is four
 * binary decisions. For every decision, each context has a probability learned from what followed
 * it before; a linear mix of their logits, with weights learned too, gives the probability for a
 * binary arithmetic coder. Encoding and decoding do the same work, so they have the same speed.
 * Integer arithmetic only: the result is the same on every processor.
 */
#ifndef FORMATS_COLUMNS_CONTEXT_MIXER_H
#define FORMATS_COLUMNS_CONTEXT_MIXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTEXT_MIXER_CONTEXTS 11u /* the most contexts of a nibble */
#define CONTEXT_MIXER_PLACES   32u
#define CONTEXT_MIXER_SELECTS  2048u

struct context_mixer;

#define CONTEXT_MIXER_BYTES ((size_t)65 << 20)

/* A mixer of about CONTEXT_MIXER_BYTES, or NULL (no memory). */
struct context_mixer *context_mixer_new(void);
void context_mixer_free(struct context_mixer *mixer);

/* Forgets everything and starts encoding to capacity bytes. More values take more memory, up to the
 * size of the mixer. */
void context_mixer_encode_begin(struct context_mixer *mixer, size_t values, uint8_t *out,
                                size_t capacity);

/* Writes the rest. Returns the end of the output, NULL if it did not fit. */
uint8_t *context_mixer_encode_end(struct context_mixer *mixer);

/* Forgets everything and starts decoding as many values; the bytes remain the caller's. */
void context_mixer_decode_begin(struct context_mixer *mixer, size_t values, const uint8_t *in,
                                size_t size);

/* Whether more bytes were needed than there are: what is decoded from then on means nothing. */
bool context_mixer_missing(const struct context_mixer *mixer);

/* Whether all bytes are used, and no more. */
bool context_mixer_decode_end(const struct context_mixer *mixer);

/*
 * Encodes value, or decodes and returns one (any value after damage). contexts are hashes, count <=
 * CONTEXT_MIXER_CONTEXTS of them; place < CONTEXT_MIXER_PLACES says what the nibble is, select <
 * CONTEXT_MIXER_SELECTS how sure the guesses are: each has its own weights.
 */
void context_mixer_encode(struct context_mixer *mixer, const uint32_t *contexts, unsigned count,
                          unsigned place, unsigned select, unsigned value);
unsigned context_mixer_decode(struct context_mixer *mixer, const uint32_t *contexts, unsigned count,
                              unsigned place, unsigned select);

#endif
