/* Samples of a fixed number of lines against a list that is searched line by line. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/mrc/sample.h"
#include "tools/mrc/shards.h"

#include <string.h>

#define LINES_MAX 64u

/* The newest line first. */
struct slow_shards {
    uint32_t lines[LINES_MAX + 1];
    unsigned count, most;
    uint64_t limit;
};

static uint64_t slow_reference(struct slow_shards *slow, uint32_t line)
{
    unsigned at = 0, largest = 0;
    while (at < slow->count && slow->lines[at] != line)
        at++;
    const uint64_t distance = at < slow->count ? at : SHARDS_COLD;
    if (at == slow->count)
        slow->count++;
    memmove(slow->lines + 1, slow->lines, at * sizeof *slow->lines);
    slow->lines[0] = line;
    if (slow->count <= slow->most)
        return distance;
    for (unsigned i = 0; i < slow->count; i++)
        if (sample_hash(slow->lines[i]) > sample_hash(slow->lines[largest]))
            largest = i;
    slow->limit = sample_hash(slow->lines[largest]);
    slow->count--;
    memmove(slow->lines + largest, slow->lines + largest + 1,
            (slow->count - largest) * sizeof *slow->lines);
    return distance;
}

static void test_twin(void)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        uint64_t random = random_seed(seed);
        struct slow_shards slow = {.most = 1 + (unsigned)random_below(&random, LINES_MAX),
                                   .limit = SAMPLE_ALL};
        struct bt_error error;
        struct shards *shards = shards_new(slow.most, &error);
        const uint64_t range = 1 + random_below(&random, 300);
        for (unsigned i = 0; i < 5000; i++) {
            const uint32_t line = (uint32_t)random_below(&random, 1 + random_below(&random, range));
            uint64_t distance;
            if (!sample_follows(line, slow.limit))
                continue;
            CU_ASSERT_EQUAL_FATAL(shards_reference(shards, line, &distance, &error), 0);
            CU_ASSERT_EQUAL(distance, slow_reference(&slow, line));
            CU_ASSERT_EQUAL(shards_limit(shards), slow.limit);
        }
        shards_free(shards);
    }
}

static const struct test_case cases[] = {{"a list", test_twin}, {NULL, NULL}};
TEST_SUITE(mrc_shards, cases)
