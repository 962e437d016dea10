#include "tools/wet/wet_locality.h"

#include <stdlib.h>
#include <string.h>

#define SIZE_MIN ((size_t)1 << 12)

/* What followed three values of an instruction last. */
struct wet_locality_context {
    uint64_t key; /* a hash of the instruction and the values; 0: free */
    uint64_t value;
};

int wet_locality_init(struct wet_locality *locality, size_t ids, size_t limit)
{
    *locality = (struct wet_locality){.of = calloc(ids, sizeof *locality->of),
                                      .contexts = calloc(SIZE_MIN, sizeof *locality->contexts),
                                      .size = SIZE_MIN,
                                      .limit = limit};
    return locality->of && locality->contexts ? 0 : BT_MEMORY;
}

void wet_locality_clear(struct wet_locality *locality)
{
    free(locality->of);
    free(locality->contexts);
    *locality = (struct wet_locality){.of = NULL};
}

static uint64_t mix(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * UINT64_C(0x9fb21c651e98df25);
    return hash ^ hash >> 32;
}

/* A value as a number: itself, or a hash of more than eight bytes. */
static uint64_t number_of(const uint8_t *value, unsigned size)
{
    uint64_t number = 0, hash = 0;
    if (size <= sizeof number) {
        memcpy(&number, value, size);
        return number;
    }
    for (unsigned at = 0; at < size; at += (unsigned)sizeof number) {
        const unsigned left = size - at;
        number = 0;
        memcpy(&number, value + at, left < sizeof number ? left : sizeof number);
        hash = mix(hash, number);
    }
    return hash;
}

static struct wet_locality_context *find(struct wet_locality_context *contexts, size_t size,
                                         uint64_t key)
{
    size_t at = key & (size - 1);
    while (contexts[at].key && contexts[at].key != key)
        at = (at + 1) & (size - 1);
    return &contexts[at];
}

static int grow(struct wet_locality *locality)
{
    const size_t size = 2 * locality->size;
    struct wet_locality_context *larger = calloc(size, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    for (size_t i = 0; i < locality->size; i++)
        if (locality->contexts[i].key)
            *find(larger, size, locality->contexts[i].key) = locality->contexts[i];
    free(locality->contexts);
    locality->contexts = larger;
    locality->size = size;
    return 0;
}

/* Predicts by context: 1 right, 0 wrong or none; and learns. BT_MEMORY. */
static int take_context(struct wet_locality *locality, uint32_t id, uint64_t value)
{
    uint64_t key = mix(0, id);
    for (unsigned i = 0; i < WET_LOCALITY_ORDER; i++)
        key = mix(key, locality->of[id].values[i]);
    key += key == 0;
    if (locality->count >= locality->size / 2 && locality->count < locality->limit &&
        grow(locality) < 0)
        return BT_MEMORY;
    struct wet_locality_context *context = find(locality->contexts, locality->size, key);
    const int right = context->key && context->value == value;
    if (!context->key && locality->count >= locality->limit) {
        locality->lost++;
        return 0;
    }
    locality->count += !context->key;
    *context = (struct wet_locality_context){.key = key, .value = value};
    return right;
}

int wet_locality_add(struct wet_locality *locality, uint32_t id, const uint8_t *value,
                     unsigned size)
{
    struct wet_locality_of *of = &locality->of[id];
    const uint64_t number = number_of(value, size);
    const uint64_t before = of->counts.values++, *last = of->values;
    const uint64_t mask = size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX;
    const uint64_t stride = before > 1 && size <= 8 ? last[0] - last[1] : 0;
    const bool by_last = before > 0 && last[0] == number;
    const bool by_stride = before > 0 && ((last[0] + stride) & mask) == (number & mask);
    const int by_context = before >= WET_LOCALITY_ORDER ? take_context(locality, id, number) : 0;
    if (by_context < 0)
        return BT_MEMORY;
    of->counts.right[WET_PREDICTOR_LAST] += by_last;
    of->counts.right[WET_PREDICTOR_STRIDE] += by_stride;
    of->counts.right[WET_PREDICTOR_CONTEXT] += by_context > 0;
    of->counts.right[WET_PREDICTOR_ANY] += by_last || by_stride || by_context > 0;
    memmove(&of->values[1], &of->values[0], (WET_LOCALITY_ORDER - 1) * sizeof *of->values);
    of->values[0] = number;
    return 0;
}
