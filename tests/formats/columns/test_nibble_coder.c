#include "formats/columns/nibble_coder.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdlib.h>

#define MODELS 5u
#define MOST   (2 * NIBBLE_CHUNK + 2)
#define TOTAL  (1 << NIBBLE_SCALE_BITS)

/* --- models ---------------------------------------------------------------------------------- */

/* The obvious way: plain integers, one after the other. */
struct twin {
    int below[17], count;
};

static void twin_adapt(struct twin *twin, int value)
{
    const int count = twin->count;
    const int rate = count < 2 ? 2 : count < 6 ? 3 : count < 20 ? 4 : count < 60 ? 5 : 6;
    for (int i = 1; i < 16; i++) {
        const int target = i <= value ? 4 * i : TOTAL - 4 * (16 - i);
        const int away = target - twin->below[i];
        twin->below[i] +=
            away >= 0 ? away / (1 << rate) : -((-away + (1 << rate) - 1) / (1 << rate));
    }
    twin->count += count < 63;
}

static void check_model(const struct nibble_model *model, const struct twin *twin)
{
    unsigned end = 0;
    for (unsigned value = 0; value < 16; value++) {
        CU_ASSERT_EQUAL(nibble_first(model, value), (unsigned)twin->below[value]);
        CU_ASSERT_EQUAL(nibble_first(model, value), end);
        CU_ASSERT(nibble_frequency(model, value) >= 1);
        end += nibble_frequency(model, value);
        CU_ASSERT_EQUAL(nibble_find(model, nibble_first(model, value)), value);
        CU_ASSERT_EQUAL(nibble_find(model, end - 1), value);
    }
    CU_ASSERT_EQUAL(end, TOTAL);
}

/* Values that repeat, that alternate, and any: the frequencies are those of plain integers. */
static void test_models(void)
{
    struct nibble_models models;
    uint64_t random = random_seed(41);
    CU_ASSERT_FATAL(nibble_models_init(&models, 1));
    for (unsigned shape = 0; shape < 34; shape++) {
        struct twin twin = {.below = {0}};
        for (int i = 0; i <= 16; i++)
            twin.below[i] = i * (TOTAL / 16);
        nibble_models_clear(&models, 1);
        check_model(models.models, &twin);
        for (unsigned i = 0; i < 300; i++) {
            const unsigned value = shape < 16   ? shape
                                   : shape < 32 ? (i / 7 % 2 ? shape - 16 : 15)
                                                : (unsigned)random_below(&random, 16);
            nibble_adapt(models.models, models.counts, value);
            twin_adapt(&twin, (int)value);
            check_model(models.models, &twin);
        }
    }
    nibble_models_free(&models);
}

/* Each position is found in the interval that has it. */
static void test_find(void)
{
    struct nibble_models models;
    uint64_t random = random_seed(42);
    CU_ASSERT_FATAL(nibble_models_init(&models, 1));
    nibble_models_clear(&models, 1);
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned value = 0, position = 0; position < TOTAL; position++) {
            while (value < 15 && position >= nibble_first(models.models, value + 1))
                value++;
            if (nibble_find(models.models, position) != value)
                CU_FAIL_FATAL("a position is in another interval");
        }
        for (unsigned i = 0; i < 9; i++)
            nibble_adapt(models.models, models.counts,
                         (unsigned)random_below(&random, 1 + round % 16));
    }
    nibble_models_free(&models);
}

/* --- code ------------------------------------------------------------------------------------ */

/* Room for one test; values[i] is coded by model i % MODELS. */
struct rig {
    struct nibble_models models;
    uint32_t *intervals;
    uint8_t *values, *out;
};

static void rig_begin(struct rig *rig)
{
    CU_ASSERT_FATAL(nibble_models_init(&rig->models, MODELS));
    rig->intervals = malloc(NIBBLE_CHUNK * sizeof *rig->intervals);
    rig->values = malloc(MOST);
    rig->out = malloc(MOST + 64);
    CU_ASSERT_FATAL(rig->intervals && rig->values && rig->out);
}

static void rig_end(struct rig *rig)
{
    nibble_models_free(&rig->models);
    free(rig->intervals);
    free(rig->values);
    free(rig->out);
}

/* The size of the code, 0 if it does not fit. */
static size_t encode(struct rig *rig, size_t count, size_t capacity)
{
    struct nibble_coder coder;
    nibble_models_clear(&rig->models, MODELS);
    nibble_encode_begin(&coder, rig->intervals, rig->out, capacity);
    for (size_t i = 0; i < count; i++)
        nibble_encode(&coder, &rig->models, i % MODELS, rig->values[i]);
    const uint8_t *end = nibble_encode_end(&coder);
    return end ? (size_t)(end - rig->out) : 0;
}

/* Whether size bytes, in memory of exactly that size, decode to the values, and end with them. */
static bool decode(struct rig *rig, size_t count, size_t size)
{
    struct nibble_coder coder;
    uint8_t *bytes = malloc(size + (size == 0));
    bool same = true;
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    memcpy(bytes, rig->out, size);
    nibble_models_clear(&rig->models, MODELS);
    nibble_decode_begin(&coder, bytes, size);
    for (size_t i = 0; i < count; i++)
        same &= nibble_decode(&coder, &rig->models, i % MODELS) == rig->values[i];
    same &= nibble_decode_end(&coder);
    free(bytes);
    return same;
}

static void test_round_trip(void)
{
    static const size_t counts[] = {
        0, 1, 2, 100, NIBBLE_CHUNK - 1, NIBBLE_CHUNK, NIBBLE_CHUNK + 1, 2 * NIBBLE_CHUNK, MOST};
    struct rig rig;
    uint64_t random = random_seed(43);
    rig_begin(&rig);
    for (size_t round = 0; round < 3 * sizeof counts / sizeof *counts; round++) {
        const size_t count = counts[round / 3];
        const unsigned kinds = round % 3 == 0 ? 1 : round % 3 == 1 ? 3 : 16;
        for (size_t i = 0; i < count; i++)
            rig.values[i] = (uint8_t)random_below(&random, kinds);
        const size_t size = encode(&rig, count, MOST + 64);
        CU_ASSERT(decode(&rig, count, size));
        CU_ASSERT(kinds > 1 || size <= 32 + count / 100);
        CU_ASSERT(kinds < 16 || size <= 32 + count / 2 + count / 30);
        if (size == 0)
            continue;
        rig.out[size] = 0;
        CU_ASSERT_FALSE(decode(&rig, count, size + 1));
        CU_ASSERT_FALSE(decode(&rig, count, size - 1));
        rig.out[size / 2] ^= 1;
        CU_ASSERT_FALSE(decode(&rig, count, size));
    }
    rig_end(&rig);
}

/* Nothing is written after the end of the output: the sanitizer sees it. */
static void test_no_room(void)
{
    struct rig rig;
    uint64_t random = random_seed(44);
    rig_begin(&rig);
    uint8_t *const out = rig.out;
    for (size_t i = 0; i < 1000; i++)
        rig.values[i] = (uint8_t)random_below(&random, 16);
    const size_t size = encode(&rig, 1000, MOST);
    for (size_t capacity = 0; capacity < size; capacity++) {
        rig.out = malloc(capacity + (capacity == 0));
        CU_ASSERT_EQUAL(encode(&rig, 1000, capacity), 0);
        free(rig.out);
    }
    rig.out = out;
    rig_end(&rig);
}

static const struct test_case cases[] = {
    {"frequencies are those of plain integers", test_models},
    {"every position is found", test_find},
    {"a decoder restores what an encoder has coded", test_round_trip},
    {"too little room", test_no_room},
    {NULL, NULL}};
TEST_SUITE(nibble_coder, cases)
