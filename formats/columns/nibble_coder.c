#include "formats/columns/nibble_coder.h"

#include <stdlib.h>

/* The sum of frequencies is 1 << 15; each value keeps a frequency of LEAST or more. */
#define TOTAL    (1 << NIBBLE_SCALE_BITS)
#define LEAST    4
#define UP(i)    ((i)*LEAST)
#define DOWN(i)  (int16_t)(TOTAL - (16 - (i)) * LEAST)
#define AT(v, i) (i) <= (v) ? UP(i) : DOWN(i)
/* Place 0 holds the count, which the caller sets. */
#define TARGETS(v)                                                                                 \
    {                                                                                              \
        0, AT(v, 1), AT(v, 2), AT(v, 3), AT(v, 4), AT(v, 5), AT(v, 6), AT(v, 7), AT(v, 8),         \
            AT(v, 9), AT(v, 10), AT(v, 11), AT(v, 12), AT(v, 13), AT(v, 14), AT(v, 15)             \
    }

_Alignas(32) const int16_t nibble_targets[16][16] = {
    TARGETS(0),  TARGETS(1),  TARGETS(2),  TARGETS(3), TARGETS(4),  TARGETS(5),
    TARGETS(6),  TARGETS(7),  TARGETS(8),  TARGETS(9), TARGETS(10), TARGETS(11),
    TARGETS(12), TARGETS(13), TARGETS(14), TARGETS(15)};

const uint8_t nibble_rates[64] = {2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5,
                                  5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
                                  5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6};

bool nibble_models_init(struct nibble_models *models, size_t count)
{
    models->models = aligned_alloc(64, (count * sizeof *models->models + 63) / 64 * 64);
    models->counts = malloc(count);
    return models->models && models->counts;
}

void nibble_models_free(struct nibble_models *models)
{
    free(models->counts);
    free(models->models);
}

void nibble_models_clear(struct nibble_models *models, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int16_t value = 0; value < 16; value++)
            models->models[i].below[value] = (int16_t)(value * (TOTAL / 16));
    memset(models->counts, 0, count);
}

void nibble_encode_begin(struct nibble_coder *coder, uint32_t *intervals, uint8_t *out,
                         size_t capacity)
{
    *coder = (struct nibble_coder){.intervals = intervals, .out = out, .out_end = out + capacity};
}

/* Encodes the intervals backwards into the end of the output, then moves the bytes to their place:
 * the decoder reads forwards. */
void nibble_encode_chunk(struct nibble_coder *coder)
{
    uint8_t *at = coder->out_end;
    uint64_t state = NIBBLE_STATE_LOW;
    for (size_t i = coder->pending; coder->out && i-- > 0;) {
        const uint32_t first = coder->intervals[i] >> 16;
        const uint32_t frequency = coder->intervals[i] & 0xffff;
        if (state >> 48 >= frequency) { /* the next step would leave 63 bits */
            if (at - coder->out < 12)
                coder->out = NULL;
            else
                bytes_put32(at -= 4, (uint32_t)state);
            state >>= 32;
        }
        state = (state / frequency << NIBBLE_SCALE_BITS) + state % frequency + first;
    }
    coder->pending = 0;
    if (!coder->out || at - coder->out < 8) {
        coder->out = NULL;
        return;
    }
    at -= 8;
    bytes_put32(at, (uint32_t)state);
    bytes_put32(at + 4, (uint32_t)(state >> 32));
    const size_t size = (size_t)(coder->out_end - at);
    memmove(coder->out, at, size);
    coder->out += size;
}

uint8_t *nibble_encode_end(struct nibble_coder *coder)
{
    if (coder->pending > 0)
        nibble_encode_chunk(coder);
    return coder->out;
}

void nibble_decode_begin(struct nibble_coder *coder, const uint8_t *in, size_t size)
{
    *coder = (struct nibble_coder){.state = NIBBLE_STATE_LOW, .in = in, .in_end = in + size};
}

void nibble_decode_chunk(struct nibble_coder *coder)
{
    coder->pending = NIBBLE_CHUNK;
    if (coder->state != NIBBLE_STATE_LOW || coder->in_end - coder->in < 8) {
        coder->damaged = true;
        coder->in = coder->in_end;
        return;
    }
    coder->state = bytes_get32(coder->in) | (uint64_t)bytes_get32(coder->in + 4) << 32;
    coder->in += 8;
    if (coder->state < NIBBLE_STATE_LOW || coder->state >> 63) {
        coder->damaged = true;
        coder->state = NIBBLE_STATE_LOW;
    }
}

bool nibble_decode_end(const struct nibble_coder *coder)
{
    return !coder->damaged && coder->state == NIBBLE_STATE_LOW && coder->in == coder->in_end;
}
