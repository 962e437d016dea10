#include "tools/input/tally.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

static void tally_twin(struct tally *tally, const struct record *records, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tally->types[records[i].type]++;
        tally->processors[records[i].processor]++;
        tally->sizes[records[i].size]++;
    }
}

static void test_equals_twin(void)
{
    enum { MOST = 200 };
    struct record records[MOST];
    for (uint64_t seed = 0; seed < 2000; seed++) {
        uint64_t random = random_seed(seed);
        struct tally tally = {.types = {0}, .processors = {0}, .sizes = {0}};
        struct tally twin = {.types = {0}, .processors = {0}, .sizes = {0}};
        for (int round = 0; round < 3; round++) {
            size_t count = (size_t)random_below(&random, MOST);
            random_fill(&random, (uint8_t *)records, sizeof records);
            tally_add(&tally, records, count);
            tally_twin(&twin, records, count);
        }
        CU_ASSERT_EQUAL(memcmp(&tally, &twin, sizeof tally), 0);
    }
}

static const struct test_case cases[] = {{"counts equal a twin's", test_equals_twin}, {NULL, NULL}};
TEST_SUITE(tally, cases)
