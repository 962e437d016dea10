/* Bits by lines, against an array of flags. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/cache/model/line_bits.h"

#include <string.h>

#define SHIFT   12u /* 2^20 numbers */
#define NUMBERS (1u << (32 - SHIFT))
#define STEPS   20000u

/* Numbers in few places, the borders of pages and of the address space among them. */
static uint32_t random_number(uint64_t *state)
{
    static const uint32_t places[] = {0, 32767, 500000, NUMBERS - 64};
    const uint32_t number = places[random_below(state, 4)] + (uint32_t)random_below(state, 64);
    return number < NUMBERS ? number : NUMBERS - 1;
}

static void check_walk(const struct line_bits *bits, const bool *twin)
{
    uint64_t at = 0;
    uint64_t found = 0;
    for (; at < NUMBERS; at++, found++) {
        while (at < NUMBERS && !twin[at])
            at++;
        const bool more = line_bits_next(bits, &found);
        CU_ASSERT_FATAL(more == (at < NUMBERS));
        if (!more)
            return;
        CU_ASSERT_EQUAL_FATAL(found, at);
    }
}

static void test_twin(void)
{
    static bool twin[NUMBERS];
    struct line_bits bits = {.page_count = 0};
    uint64_t state = 11;
    memset(twin, 0, sizeof twin);
    CU_ASSERT_EQUAL_FATAL(line_bits_make(&bits, SHIFT), 0);
    check_walk(&bits, twin);
    for (unsigned step = 0; step < STEPS; step++) {
        const uint32_t number = random_number(&state);
        CU_ASSERT_EQUAL(line_bits_get(&bits, number), twin[number]);
        if (random_below(&state, 2)) {
            CU_ASSERT_EQUAL(line_bits_set(&bits, number), twin[number]);
            twin[number] = true;
        } else {
            line_bits_reset(&bits, number);
            twin[number] = false;
        }
        if (step % 1000 == 0)
            check_walk(&bits, twin);
    }
    check_walk(&bits, twin);
    line_bits_clear(&bits);
}

/* The last line of the address space, in one page and in many. */
static void test_borders(void)
{
    for (unsigned shift = 2; shift <= 31; shift++) {
        struct line_bits bits = {.page_count = 0};
        const uint32_t last = UINT32_MAX >> shift;
        uint64_t at = 0;
        CU_ASSERT_EQUAL_FATAL(line_bits_make(&bits, shift), 0);
        CU_ASSERT_EQUAL(line_bits_set(&bits, last), 0);
        CU_ASSERT_EQUAL(line_bits_set(&bits, last), 1);
        CU_ASSERT(line_bits_next(&bits, &at));
        CU_ASSERT_EQUAL(at, last);
        at++;
        CU_ASSERT_FALSE(line_bits_next(&bits, &at));
        line_bits_clear(&bits);
    }
}

static const struct test_case cases[] = {
    {"an array of flags", test_twin}, {"the last line", test_borders}, {NULL, NULL}};
TEST_SUITE(line_bits, cases)
