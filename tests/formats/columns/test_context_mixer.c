#include "formats/columns/context_mixer.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

#define MOST 6000u

/* What is coded: each value with contexts, place and select of its own. */
struct rig {
    struct context_mixer *mixer, *other;
    uint8_t values[MOST], places[MOST], counts[MOST];
    uint16_t selects[MOST];
    uint32_t contexts[MOST][CONTEXT_MIXER_CONTEXTS];
    uint8_t out[MOST + 64];
};

/* Shapes: all the same; a sequence that its contexts tell; noise in any context at all edges of
 * places and selects. */
static void fill(struct rig *rig, unsigned shape, uint64_t *random)
{
    for (unsigned i = 0; i < MOST; i++) {
        const bool noise = shape == 2;
        rig->values[i] = shape == 0   ? 9
                         : shape == 1 ? (uint8_t)(i * i % 29 % 16)
                                      : (uint8_t)random_below(random, 16);
        rig->counts[i] = noise ? (uint8_t)(1 + random_below(random, CONTEXT_MIXER_CONTEXTS)) : 3;
        rig->places[i] =
            noise ? (uint8_t)(random_below(random, 2) * (CONTEXT_MIXER_PLACES - 1)) : 5;
        rig->selects[i] =
            noise ? (uint16_t)(random_below(random, 2) * (CONTEXT_MIXER_SELECTS - 1)) : 7;
        for (unsigned c = 0; c < CONTEXT_MIXER_CONTEXTS; c++)
            rig->contexts[i][c] =
                noise ? random_next32(random) >> random_below(random, 32) : i % (29 + c);
    }
}
#define SHAPES 3u

/* The size of the code, 0 if it does not fit. */
static size_t encode(struct rig *rig, unsigned count, uint8_t *out, size_t capacity)
{
    context_mixer_encode_begin(rig->mixer, count, out, capacity);
    for (unsigned i = 0; i < count; i++)
        context_mixer_encode(rig->mixer, rig->contexts[i], rig->counts[i], rig->places[i],
                             rig->selects[i], rig->values[i]);
    const uint8_t *end = context_mixer_encode_end(rig->mixer);
    return end ? (size_t)(end - out) : 0;
}

/* Whether size bytes, in memory of exactly that size, decode to the values, and end with them. */
static bool decode(struct rig *rig, unsigned count, const uint8_t *code, size_t size)
{
    uint8_t *bytes = malloc(size + (size == 0));
    bool same = true;
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    memcpy(bytes, code, size);
    context_mixer_decode_begin(rig->other, count, bytes, size);
    for (unsigned i = 0; i < count; i++)
        same &= context_mixer_decode(rig->other, rig->contexts[i], rig->counts[i], rig->places[i],
                                     rig->selects[i]) == rig->values[i];
    same &= context_mixer_decode_end(rig->other);
    free(bytes);
    return same;
}

static struct rig *rig_new(void)
{
    struct rig *rig = malloc(sizeof *rig);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rig);
    rig->mixer = context_mixer_new();
    rig->other = context_mixer_new();
    CU_ASSERT_FATAL(rig->mixer && rig->other);
    return rig;
}

static void rig_free(struct rig *rig)
{
    context_mixer_free(rig->mixer);
    context_mixer_free(rig->other);
    free(rig);
}

static void test_round_trip(void)
{
    static const unsigned counts[] = {0, 1, 2, 50, MOST};
    struct rig *rig = rig_new();
    uint64_t random = random_seed(51);
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        fill(rig, shape, &random);
        for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
            const unsigned count = counts[i];
            const size_t size = encode(rig, count, rig->out, sizeof rig->out);
            CU_ASSERT(size >= 4 && decode(rig, count, rig->out, size));
            /* what contexts tell costs nearly nothing, noise little more than its bits */
            CU_ASSERT(shape == 2 || count < MOST || size < MOST / 40);
            CU_ASSERT(size <= 16 + count / 2 + count / 20);
            CU_ASSERT_FALSE(decode(rig, count, rig->out, size - 1));
            rig->out[size] = 0;
            CU_ASSERT_FALSE(decode(rig, count, rig->out, size + 1));
        }
    }
    rig_free(rig);
}

/* The result does not depend on what was coded before. */
static void test_no_memory(void)
{
    struct rig *rig = rig_new();
    uint64_t random = random_seed(52);
    uint8_t *first = malloc(sizeof rig->out);
    fill(rig, 1, &random);
    const size_t size = encode(rig, MOST, first, sizeof rig->out);
    fill(rig, 2, &random);
    encode(rig, MOST, rig->out, sizeof rig->out);
    fill(rig, 1, &random);
    CU_ASSERT_EQUAL(encode(rig, MOST, rig->out, sizeof rig->out), size);
    CU_ASSERT_EQUAL(memcmp(first, rig->out, size), 0);
    free(first);
    rig_free(rig);
}

/* Nothing is written after the end of the output: the sanitizer sees it. */
static void test_no_room(void)
{
    struct rig *rig = rig_new();
    uint64_t random = random_seed(53);
    fill(rig, 2, &random);
    const size_t size = encode(rig, 60, rig->out, sizeof rig->out);
    for (size_t capacity = 0; capacity <= size; capacity++) {
        uint8_t *out = malloc(capacity + (capacity == 0));
        CU_ASSERT_EQUAL(encode(rig, 60, out, capacity), capacity == size ? size : 0);
        free(out);
    }
    rig_free(rig);
}

static const struct test_case cases[] = {
    {"a decoder restores what an encoder has coded", test_round_trip},
    {"no memory of other values", test_no_memory},
    {"too little room", test_no_room},
    {NULL, NULL}};
TEST_SUITE(context_mixer, cases)
