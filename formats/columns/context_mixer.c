#include "formats/columns/context_mixer.h"

#include "formats/base/bytes.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define INPUTS      24u /* two of each context, a constant, and zeros up to a multiple of 8 */
#define LOGIT_MOST  2047
#define COUNT_BITS  10u
#define COUNT_LIMIT 250u
#define COUNT_SURE  30u /* values after which a probability is fully trusted */

#define BUCKET_BITS_LEAST 12u
#define BUCKET_BITS_MOST  20u

_Static_assert(2 * CONTEXT_MIXER_CONTEXTS + 1 <= INPUTS && INPUTS % 8 == 0, "inputs are vectors");

/* What followed a context: the decisions of a nibble as a tree, numbered from 1. */
struct bucket {
    uint32_t check;
    uint32_t nodes[15]; /* probability of 1 in 22 bits, COUNT_BITS of count */
};

struct weights {
    _Alignas(16) int16_t of[INPUTS]; /* 1 << 14 is 1 */
};

struct context_mixer {
    struct bucket *buckets;
    unsigned bucket_bits;
    struct weights by_place[CONTEXT_MIXER_PLACES * 16];
    struct weights by_select[CONTEXT_MIXER_SELECTS];
    int16_t logits[4096];    /* of a probability in 12 bits; 256 is 1 */
    uint16_t logistic[4096]; /* of a logit + 2048, in 16 bits */
    uint32_t steps[1u << COUNT_BITS];
    uint32_t low, high, code;
    uint8_t *out, *out_end;
    const uint8_t *in, *in_end;
    size_t missing; /* bytes read after the end */
};

/* The logistic function in 16 bits at steps of 64, from -2048; linear between. */
static void make_logistic(struct context_mixer *mixer)
{
    static const uint16_t half[33] = {22,    28,    36,    47,    60,    77,   98,   126,  162,
                                      208,   267,   342,   439,   562,   720,  922,  1179, 1506,
                                      1921,  2446,  3108,  3938,  4971,  6249, 7812, 9702, 11955,
                                      14595, 17625, 21025, 24743, 28693, 32768};
    for (unsigned i = 0; i < 2048; i++) {
        const unsigned step = i / 64;
        const unsigned between = i % 64;
        const unsigned value = (half[step] * (64 - between) + half[step + 1] * between) / 64;
        mixer->logistic[i] = (uint16_t)value;
        mixer->logistic[4095 - i] = (uint16_t)(65535 - value);
    }
}

static void make_tables(struct context_mixer *mixer)
{
    make_logistic(mixer);
    unsigned logit = 0;
    for (unsigned i = 0; i < 4096; i++) {
        while (logit < 4095 && mixer->logistic[logit] < i * 16 + 8)
            logit++;
        int centred = (int)logit - 2048;
        mixer->logits[i] = (int16_t)(centred < -LOGIT_MOST ? -LOGIT_MOST : centred);
    }
    for (uint32_t i = 0; i < 1u << COUNT_BITS; i++)
        mixer->steps[i] = 2 * 65536 / (2 * i + 3);
}

struct context_mixer *context_mixer_new(void)
{
    struct context_mixer *mixer = aligned_alloc(64, (sizeof *mixer + 63) / 64 * 64);
    if (!mixer)
        return NULL;
    memset(mixer, 0, sizeof *mixer);
    mixer->buckets = aligned_alloc(64, sizeof *mixer->buckets << BUCKET_BITS_MOST);
    if (!mixer->buckets) {
        free(mixer);
        return NULL;
    }
    make_tables(mixer);
    return mixer;
}

void context_mixer_free(struct context_mixer *mixer)
{
    if (mixer)
        free(mixer->buckets);
    free(mixer);
}

/* Forgets everything. Few values need, and have to clear, less memory. */
static void forget(struct context_mixer *mixer, size_t values)
{
    mixer->bucket_bits = BUCKET_BITS_LEAST;
    while (mixer->bucket_bits < BUCKET_BITS_MOST && (size_t)1 << mixer->bucket_bits < values)
        mixer->bucket_bits++;
    memset(mixer->buckets, 0, sizeof *mixer->buckets << mixer->bucket_bits);
    struct weights first = {{0}};
    for (unsigned i = 0; i < 2 * CONTEXT_MIXER_CONTEXTS; i += 2) {
        first.of[i] = 4900;
        first.of[i + 1] = 500;
    }
    for (unsigned i = 0; i < CONTEXT_MIXER_PLACES * 16; i++)
        mixer->by_place[i] = first;
    for (unsigned i = 0; i < CONTEXT_MIXER_SELECTS; i++)
        mixer->by_select[i] = first;
    mixer->low = 0;
    mixer->high = UINT32_MAX;
    mixer->missing = 0;
}

void context_mixer_encode_begin(struct context_mixer *mixer, size_t values, uint8_t *out,
                                size_t capacity)
{
    forget(mixer, values);
    mixer->out = out;
    mixer->out_end = out + capacity;
}

static uint8_t next_byte(struct context_mixer *mixer)
{
    if (mixer->in < mixer->in_end)
        return *mixer->in++;
    mixer->missing++;
    return 0;
}

void context_mixer_decode_begin(struct context_mixer *mixer, size_t values, const uint8_t *in,
                                size_t size)
{
    forget(mixer, values);
    mixer->in = in;
    mixer->in_end = in + size;
    mixer->code = 0;
    for (int i = 0; i < 4; i++)
        mixer->code = mixer->code << 8 | next_byte(mixer);
}

static void put_byte(struct context_mixer *mixer, uint8_t byte)
{
    if (mixer->out && mixer->out < mixer->out_end)
        *mixer->out++ = byte;
    else
        mixer->out = NULL;
}

uint8_t *context_mixer_encode_end(struct context_mixer *mixer)
{
    for (unsigned shift = 32; shift > 0; shift -= 8)
        put_byte(mixer, (uint8_t)(mixer->high >> (shift - 8)));
    return mixer->out;
}

bool context_mixer_missing(const struct context_mixer *mixer)
{
    return mixer->missing > 0;
}

bool context_mixer_decode_end(const struct context_mixer *mixer)
{
    return mixer->missing == 0 && mixer->in == mixer->in_end;
}

static inline uint64_t bucket_hash(uint32_t context)
{
    return context * UINT64_C(0x9e3779b97f4a7c15);
}

static inline struct bucket *first_bucket(const struct context_mixer *mixer, uint64_t hash)
{
    return &mixer->buckets[hash >> (64 - mixer->bucket_bits)];
}

/* The bucket of a context; a new one takes the place of the less used of two. */
static struct bucket *find_bucket(const struct context_mixer *mixer, uint64_t hash)
{
    const uint32_t check = (uint32_t)hash | 1;
    struct bucket *bucket = first_bucket(mixer, hash);
    if (bucket->check == check)
        return bucket;
    struct bucket *other = first_bucket(mixer, hash ^ UINT64_C(1) << (64 - mixer->bucket_bits));
    if (other->check == check)
        return other;
    const uint32_t count_mask = (1u << COUNT_BITS) - 1;
    if ((other->nodes[0] & count_mask) < (bucket->nodes[0] & count_mask))
        bucket = other;
    bucket->check = check;
    for (unsigned i = 0; i < 15; i++)
        bucket->nodes[i] = UINT32_C(1) << 31;
    return bucket;
}

/* Finds the buckets of all contexts. Most are not in the cache: fetches all before it reads one. */
static void find_buckets(const struct context_mixer *mixer, struct bucket **buckets,
                         const uint32_t *contexts, unsigned count, unsigned place)
{
    uint64_t hashes[CONTEXT_MIXER_CONTEXTS];
    for (unsigned i = 0; i < count; i++) {
        hashes[i] = bucket_hash(contexts[i] + (place * 32 + i + 1) * UINT32_C(0x2545f491));
        __builtin_prefetch(first_bucket(mixer, hashes[i]), 1);
    }
    for (unsigned i = 0; i < count; i++)
        buckets[i] = find_bucket(mixer, hashes[i]);
}

static void put_inputs(const struct context_mixer *mixer, int16_t *inputs,
                       struct bucket *const *buckets, unsigned count, unsigned node)
{
    for (unsigned i = 0; i < count; i++) {
        const uint32_t cell = buckets[i]->nodes[node];
        const int probability = (int)(cell >> 20);
        const unsigned known = cell & ((1u << COUNT_BITS) - 1);
        const int sure = (int)(known < COUNT_SURE ? known : COUNT_SURE);
        inputs[2 * i] = known ? mixer->logits[probability] : 0;
        inputs[2 * i + 1] = (int16_t)((probability - 2048) * sure / 16);
    }
    inputs[2 * count] = 256;
}

/* The weighted sum, a logit. Pairs are scaled down before they are added: no sum overflows. */
static int mix(const int16_t *inputs, unsigned used, const struct weights *weights)
{
    int32_t sum = 0;
#ifdef __SSE2__
    __m128i sums = _mm_setzero_si128();
    for (unsigned i = 0; i < used; i += 8)
        sums = _mm_add_epi32(
            sums, _mm_srai_epi32(_mm_madd_epi16(_mm_load_si128((const __m128i *)(inputs + i)),
                                                _mm_load_si128((const __m128i *)(weights->of + i))),
                                 6));
    sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, 0x4e));
    sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, 0xb1));
    sum = _mm_cvtsi128_si32(sums);
#else
    for (unsigned i = 0; i < used; i += 2)
        sum += (inputs[i] * weights->of[i] + inputs[i + 1] * weights->of[i + 1]) >> 6;
#endif
    sum >>= 8;
    return sum > LOGIT_MOST ? LOGIT_MOST : sum < -LOGIT_MOST ? -LOGIT_MOST : sum;
}

/* Moves the weights against the error, which is in 12 bits and scaled by the learning rate. */
static void train(const int16_t *inputs, unsigned used, struct weights *weights, int error)
{
#ifdef __SSE2__
    const __m128i errors = _mm_set1_epi16((int16_t)error);
    const __m128i one = _mm_set1_epi16(1);
    for (unsigned i = 0; i < used; i += 8) {
        __m128i *at = (__m128i *)(weights->of + i);
        const __m128i twice = _mm_slli_epi16(_mm_load_si128((const __m128i *)(inputs + i)), 1);
        const __m128i step = _mm_srai_epi16(_mm_add_epi16(_mm_mulhi_epi16(twice, errors), one), 1);
        _mm_store_si128(at, _mm_adds_epi16(_mm_load_si128(at), step));
    }
#else
    for (unsigned i = 0; i < used; i++) {
        const int moved = weights->of[i] + (((2 * inputs[i] * error >> 16) + 1) >> 1);
        weights->of[i] = (int16_t)(moved > INT16_MAX   ? INT16_MAX
                                   : moved < INT16_MIN ? INT16_MIN
                                                       : moved);
    }
#endif
}

static void learn(const struct context_mixer *mixer, struct bucket *const *buckets, unsigned count,
                  unsigned node, unsigned bit)
{
    const int32_t target = bit ? (1 << 22) - 1 : 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t *cell = &buckets[i]->nodes[node];
        const uint32_t known = *cell & ((1u << COUNT_BITS) - 1);
        const int32_t old = (int32_t)(*cell >> COUNT_BITS);
        const int32_t step = (int32_t)((int64_t)(target - old) * mixer->steps[known] / 65536);
        *cell = (uint32_t)(old + step) << COUNT_BITS | (known + (known < COUNT_LIMIT));
    }
}

/* Encodes bit, or decodes one; probability is that of 1, in 16 bits. */
static unsigned code_bit(struct context_mixer *mixer, bool decode, unsigned probability,
                         unsigned bit)
{
    const uint32_t middle =
        mixer->low + (uint32_t)(((uint64_t)(mixer->high - mixer->low) * probability) >> 16);
    if (decode)
        bit = mixer->code <= middle;
    if (bit)
        mixer->high = middle;
    else
        mixer->low = middle + 1;
    while ((mixer->low ^ mixer->high) >> 24 == 0) {
        if (decode)
            mixer->code = mixer->code << 8 | next_byte(mixer);
        else
            put_byte(mixer, (uint8_t)(mixer->high >> 24));
        mixer->low <<= 8;
        mixer->high = mixer->high << 8 | 255;
    }
    return bit;
}

static inline unsigned code_nibble(struct context_mixer *mixer, bool decode,
                                   const uint32_t *contexts, unsigned count, unsigned place,
                                   unsigned select, unsigned value)
{
    struct bucket *buckets[CONTEXT_MIXER_CONTEXTS];
    _Alignas(16) int16_t inputs[INPUTS] = {0};
    struct weights *second = &mixer->by_select[select];
    const unsigned used = (2 * count + 1 + 7) / 8 * 8;
    find_buckets(mixer, buckets, contexts, count, place);
    unsigned tree = 1;
    for (unsigned shift = 4; shift-- > 0;) {
        struct weights *first = &mixer->by_place[place * 16 + tree];
        put_inputs(mixer, inputs, buckets, count, tree - 1);
        const int logits[2] = {mix(inputs, used, first), mix(inputs, used, second)};
        const unsigned probability = mixer->logistic[(logits[0] + logits[1]) / 2 + 2048];
        const unsigned bit = code_bit(mixer, decode, probability, value >> shift & 1);
        const int truth = bit ? 4095 : 0;
        train(inputs, used, first, (truth - (mixer->logistic[logits[0] + 2048] >> 4)) * 6);
        train(inputs, used, second, (truth - (mixer->logistic[logits[1] + 2048] >> 4)) * 6);
        learn(mixer, buckets, count, tree - 1, bit);
        tree = 2 * tree + bit;
    }
    return tree & 15;
}

void context_mixer_encode(struct context_mixer *mixer, const uint32_t *contexts, unsigned count,
                          unsigned place, unsigned select, unsigned value)
{
    code_nibble(mixer, false, contexts, count, place, select, value);
}

unsigned context_mixer_decode(struct context_mixer *mixer, const uint32_t *contexts, unsigned count,
                              unsigned place, unsigned select)
{
    return code_nibble(mixer, true, contexts, count, place, select, 0);
}
