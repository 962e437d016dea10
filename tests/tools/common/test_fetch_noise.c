/* Errors of a probe among fetches. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/common/fetch_noise.h"

#include <stdlib.h>

static void test_bits(void)
{
    static const struct {
        uint32_t mask, before, seen, after, wrong;
    } rows[] = {
        {0, 0x1000, 0x1400, 0x1000, 0x400},       /* back to the same chunk */
        {0, 0x1000, 0x1408, 0x1008, 0x400},       /* on to the next one */
        {0, 0x1000, 0x1c08, 0x1010, 0xc00},       /* in place of the next one */
        {0, 0x1000, 0x1c00, 0x1010, 0},           /* the next one is missing */
        {0, 0x1000, 0x1008, 0x1000, 0},           /* in sequence */
        {0, 0x1000, 0x1400, 0x1408, 0},           /* continues there */
        {0, 0x1000, 0x1400, 0x2000, 0},           /* does not return */
        {0, 0x1000, 0x5c00, 0x1000, 0},           /* three bits */
        {0x4c00, 0x1000, 0x5c00, 0x1000, 0x4c00}, /* all of them often wrong */
        {0x0c00, 0x1000, 0x5c00, 0x1000, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct fetch_noise noise = {.chunk = 8, .mask = rows[i].mask};
        CU_ASSERT_EQUAL(fetch_noise_bits(&noise, rows[i].before, rows[i].seen, rows[i].after),
                        rows[i].wrong);
    }
}

/* Fetches of nested loops and calls; one of `noise` has a wrong bit of the mask, 0: none has. */
static size_t walk(uint32_t *addresses, size_t count, uint32_t mask, unsigned noise)
{
    uint64_t random = random_seed(noise + 5);
    size_t made = 0;
    for (uint32_t at = 0x8048000; made < count; at += 8) {
        addresses[made++] = at;
        if (noise > 0 && random_below(&random, noise) == 0 && made < count) {
            unsigned bit;
            do
                bit = (unsigned)random_below(&random, 32);
            while (!(mask >> bit & 1));
            addresses[made++] = at ^ 1u << bit;
        }
        if (random_below(&random, 10) == 0)
            at -= 8 * (uint32_t)random_below(&random, 20);
        if (at > 0x8049800)
            at = 0x8048000;
    }
    return made;
}

static void test_find(void)
{
    const size_t count = 20000;
    uint32_t *addresses = malloc(count * sizeof *addresses);
    struct fetch_noise_finding finding;
    CU_ASSERT_PTR_NOT_NULL_FATAL(addresses);
    walk(addresses, count, 0, 0);
    CU_ASSERT_EQUAL(fetch_noise_find(&finding, addresses, count, 8, NULL), 0);
    CU_ASSERT_FALSE(fetch_noise_is_probe(&finding));
    CU_ASSERT(finding.visits > count * 9 / 10 && finding.visits <= count);
    walk(addresses, count, 0xc400, 30);
    CU_ASSERT_EQUAL(fetch_noise_find(&finding, addresses, count, 8, NULL), 0);
    CU_ASSERT_TRUE(fetch_noise_is_probe(&finding));
    /* bit 10 mostly leads to code that is executed */
    CU_ASSERT_EQUAL(finding.mask, 0xc000);
    CU_ASSERT_TRUE(finding.excursions > count / 40 && finding.excursions < count / 20);
    CU_ASSERT_EQUAL(fetch_noise_find(&finding, addresses, 0, 8, NULL), 0);
    CU_ASSERT_FALSE(fetch_noise_is_probe(&finding));
    free(addresses);
}

static const struct test_case cases[] = {
    {"the wrong bits of one fetch", test_bits}, {"the bits of a probe", test_find}, {NULL, NULL}};
TEST_SUITE(fetch_noise, cases)
