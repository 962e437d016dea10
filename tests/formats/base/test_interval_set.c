#include "formats/base/interval_set.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#define NUMBERS 64u /* the slow twin's bits */

static uint64_t bits_of(const struct interval_set *set)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < NUMBERS; i++)
        bits |= (uint64_t)interval_set_has(set, i) << i;
    return bits;
}

/* Intervals ascend and do not touch. */
static bool is_sound(const struct interval_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->intervals[i].low > set->intervals[i].high ||
            (i && set->intervals[i].low - 1 <= set->intervals[i - 1].high))
            return false;
    return true;
}

static uint64_t fill(struct interval_set *set, uint64_t *random)
{
    uint64_t bits = 0;
    for (uint64_t n = random_below(random, 8); n > 0; n--) {
        uint64_t low = random_below(random, NUMBERS);
        uint64_t high = low + random_below(random, NUMBERS - low < 9 ? NUMBERS - low : 9);
        CU_ASSERT_EQUAL(interval_set_add(set, low, high), 0);
        for (uint64_t i = low; i <= high; i++)
            bits |= UINT64_C(1) << i;
    }
    return bits;
}

static void test_against_bits(void)
{
    for (unsigned seed = 0; seed < 5000; seed++) {
        uint64_t random = random_seed(seed);
        struct interval_set a = {.count = 0}, b = {.count = 0};
        uint64_t a_bits = fill(&a, &random);
        uint64_t b_bits = fill(&b, &random);
        CU_ASSERT_EQUAL(bits_of(&a), a_bits);
        CU_ASSERT_EQUAL(interval_set_equal(&a, &b), a_bits == b_bits);
        uint64_t low = random_below(&random, NUMBERS);
        uint64_t high = low + random_below(&random, NUMBERS - low);
        uint64_t all = UINT64_MAX >> (63 - (high - low)) << low;
        CU_ASSERT_EQUAL(interval_set_covers(&a, low, high), (a_bits & all) == all);
        CU_ASSERT_EQUAL(interval_set_meets(&a, low, high), (a_bits & all) != 0);
        switch (random_below(&random, 4)) {
        case 0:
            CU_ASSERT_EQUAL(interval_set_unite(&a, &b), 0);
            a_bits |= b_bits;
            break;
        case 1:
            CU_ASSERT_EQUAL(interval_set_intersect(&a, &b), 0);
            a_bits &= b_bits;
            break;
        case 2:
            CU_ASSERT_EQUAL(interval_set_complement(&a, high), 0);
            a_bits = ~a_bits & (UINT64_MAX >> (63 - high));
            break;
        default:
            interval_set_widen(&a, 2);
            CU_ASSERT_TRUE(a.count <= 2);
            CU_ASSERT_EQUAL(bits_of(&a) & a_bits, a_bits);
            a_bits = bits_of(&a);
        }
        CU_ASSERT_TRUE(is_sound(&a));
        CU_ASSERT_EQUAL(bits_of(&a), a_bits);
        interval_set_clear(&a);
        interval_set_clear(&b);
    }
}

static void test_extremes(void)
{
    struct interval_set set = {.count = 0};
    CU_ASSERT_EQUAL(interval_set_add(&set, UINT64_MAX, UINT64_MAX), 0);
    CU_ASSERT_EQUAL(interval_set_add(&set, 0, 0), 0);
    CU_ASSERT_EQUAL(set.count, 2);
    CU_ASSERT_EQUAL(interval_set_complement(&set, UINT64_MAX), 0);
    CU_ASSERT_TRUE(interval_set_covers(&set, 1, UINT64_MAX - 1));
    CU_ASSERT_FALSE(interval_set_has(&set, 0));
    CU_ASSERT_EQUAL(interval_set_add(&set, 0, UINT64_MAX), 0);
    CU_ASSERT_EQUAL(set.count, 1);
    CU_ASSERT_EQUAL(interval_set_complement(&set, UINT64_MAX), 0);
    CU_ASSERT_EQUAL(set.count, 0);
    CU_ASSERT_EQUAL(interval_set_complement(&set, UINT64_MAX), 0);
    CU_ASSERT_TRUE(interval_set_covers(&set, 0, UINT64_MAX));
    interval_set_clear(&set);
}

/* The smallest hole is closed first. */
static void test_widen(void)
{
    struct interval_set set = {.count = 0};
    interval_set_add(&set, 0, 0);
    interval_set_add(&set, 10, 10);
    interval_set_add(&set, 13, 13);
    interval_set_add(&set, 18, 18);
    interval_set_widen(&set, 2);
    CU_ASSERT_EQUAL(set.count, 2);
    CU_ASSERT_TRUE(interval_set_covers(&set, 10, 18));
    CU_ASSERT_FALSE(interval_set_has(&set, 9));
    interval_set_clear(&set);
}

static const struct test_case cases[] = {{"against bits", test_against_bits},
                                         {"extremes", test_extremes},
                                         {"widen", test_widen},
                                         {NULL, NULL}};
TEST_SUITE(interval_set, cases)
