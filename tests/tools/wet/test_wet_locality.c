/* Predictors of values: by hand, and against searches through all values so far. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/wet/wet_locality.h"

#include <string.h>

#define IDS    4u
#define VALUES 3000u

static const struct wet_locality_counts *add_all(struct wet_locality *locality,
                                                 const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[8];
        memcpy(bytes, &values[i], sizeof bytes);
        CU_ASSERT_EQUAL(wet_locality_add(locality, 1, bytes, sizeof bytes), 0);
    }
    return &locality->of[1].counts;
}

static void check(const uint64_t *values, size_t count, uint64_t last, uint64_t stride,
                  uint64_t context, uint64_t any)
{
    struct wet_locality locality;
    CU_ASSERT_EQUAL_FATAL(wet_locality_init(&locality, IDS, 100), 0);
    const struct wet_locality_counts *counts = add_all(&locality, values, count);
    CU_ASSERT_EQUAL(counts->values, count);
    CU_ASSERT_EQUAL(counts->right[WET_PREDICTOR_LAST], last);
    CU_ASSERT_EQUAL(counts->right[WET_PREDICTOR_STRIDE], stride);
    CU_ASSERT_EQUAL(counts->right[WET_PREDICTOR_CONTEXT], context);
    CU_ASSERT_EQUAL(counts->right[WET_PREDICTOR_ANY], any);
    wet_locality_clear(&locality);
}

#define CHECK(last, stride, context, any, ...)                                                     \
    do {                                                                                           \
        const uint64_t values[] = {__VA_ARGS__};                                                   \
        check(values, sizeof values / sizeof values[0], last, stride, context, any);               \
    } while (0)

static void test_by_hand(void)
{
    CHECK(5, 5, 2, 5, 7, 7, 7, 7, 7, 7);                 /* the first is predicted by nothing */
    CHECK(0, 4, 0, 4, 10, 20, 30, 40, 50, 60);           /* the stride is known after two */
    CHECK(0, 0, 5, 5, 1, 5, 2, 1, 5, 2, 1, 5, 2, 1, 5);  /* what followed 1 5 2, 5 2 1, 2 1 5 */
    CHECK(0, 2, 0, 2, UINT64_MAX - 1, UINT64_MAX, 0, 1); /* differences wrap around */
}

/* A stride is one of the value's own width; of more than eight bytes there is none. */
static void test_widths(void)
{
    static const uint8_t bytes[] = {254, 255, 0, 1};
    struct wet_locality locality;
    uint8_t wide[16] = {0};
    CU_ASSERT_EQUAL_FATAL(wet_locality_init(&locality, IDS, 100), 0);
    for (unsigned i = 0; i < sizeof bytes; i++) {
        wide[15] = (uint8_t)(i / 2);
        CU_ASSERT_EQUAL(wet_locality_add(&locality, 1, &bytes[i], 1), 0);
        CU_ASSERT_EQUAL(wet_locality_add(&locality, 2, wide, sizeof wide), 0);
    }
    CU_ASSERT_EQUAL(locality.of[1].counts.right[WET_PREDICTOR_STRIDE], 2);
    CU_ASSERT_EQUAL(locality.of[2].counts.right[WET_PREDICTOR_LAST], 2);
    CU_ASSERT_EQUAL(locality.of[2].counts.right[WET_PREDICTOR_STRIDE], 2);
    wet_locality_clear(&locality);
}

/* How often the latest occurrence of the three values before each one, at least three before it,
 * was followed by it. */
static uint64_t count_contexts(const uint8_t *values, size_t count)
{
    uint64_t right = 0;
    for (size_t i = 4; i < count; i++)
        for (size_t k = i - 1; k >= 3; k--)
            if (memcmp(&values[k - 3], &values[i - 3], 3) == 0) {
                right += values[k] == values[i];
                break;
            }
    return right;
}

static void test_random(void)
{
    static uint8_t values[IDS][VALUES];
    uint64_t random = random_seed(7);
    struct wet_locality locality;
    CU_ASSERT_EQUAL_FATAL(wet_locality_init(&locality, IDS, VALUES * IDS), 0);
    for (unsigned i = 0; i < VALUES; i++)
        for (uint32_t id = 1; id < IDS; id++) {
            values[id][i] = (uint8_t)random_below(&random, 3 * id);
            CU_ASSERT_EQUAL(wet_locality_add(&locality, id, &values[id][i], 1), 0);
        }
    for (uint32_t id = 1; id < IDS; id++)
        CU_ASSERT_EQUAL(locality.of[id].counts.right[WET_PREDICTOR_CONTEXT],
                        count_contexts(values[id], VALUES));
    CU_ASSERT_EQUAL(locality.lost, 0);
    wet_locality_clear(&locality);
}

static void test_limit(void)
{
    struct wet_locality locality;
    uint64_t values[50];
    for (unsigned i = 0; i < 50; i++)
        values[i] = i % 25 * i;
    CU_ASSERT_EQUAL_FATAL(wet_locality_init(&locality, IDS, 10), 0);
    add_all(&locality, values, 50);
    CU_ASSERT_EQUAL(locality.count, 10);
    CU_ASSERT(locality.lost > 20);
    wet_locality_clear(&locality);
}

static const struct test_case cases[] = {{"sequences by hand", test_by_hand},
                                         {"widths", test_widths},
                                         {"contexts against a search", test_random},
                                         {"the limit of contexts", test_limit},
                                         {NULL, NULL}};
TEST_SUITE(wet_locality, cases)
