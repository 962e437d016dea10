/* The cache engine against the slow simulator: every counter for random traces and hierarchies.
 * The slow simulator checks that each read returns the last value written and, in every other
 * trace, the invariants of doc/cache-model.md at each record. */
#include "tests/suites.h"
#include "tests/support/cache_compare.h"
#include "tests/support/random.h"
#include "tests/support/random_hierarchy.h"

#include <string.h>

#define RECORDS_MAX 200u

struct tried {
    unsigned accepted;
    unsigned refused;
    unsigned failed;
    unsigned in_parts;
    uint64_t reads_checked;
};

/* One random hierarchy and trace. want: selects hierarchies; NULL: all. */
static void try_one(uint64_t seed, bool (*want)(const struct hierarchy_settings *),
                    struct tried *tried)
{
    struct record records[RECORDS_MAX];
    struct hierarchy_settings settings;
    struct cache_compare compare;
    uint64_t state = random_seed(seed);
    random_hierarchy(&state, &settings);
    if (want && !want(&settings))
        return;
    if (hierarchy_check(&settings, NULL) < 0) {
        tried->refused++;
        return;
    }
    tried->accepted++;
    size_t count = random_below(&state, RECORDS_MAX) + 1;
    random_references(&state, &settings, records, count);
    cache_compare(&compare, &settings, records, count, seed % 2 == 0);
    tried->in_parts += compare.parts > 1;
    tried->reads_checked += compare.reads_checked;
    if (!compare.same && tried->failed++ < 3)
        cache_agree(&settings, records, count, seed);
}

static void run(uint64_t first, unsigned count, bool (*want)(const struct hierarchy_settings *),
                struct tried *tried)
{
    *tried = (struct tried){.accepted = 0};
    for (uint64_t seed = first; seed < first + count; seed++)
        try_one(seed, want, tried);
    CU_ASSERT_EQUAL(tried->failed, 0);
}

static void test_anything(void)
{
    struct tried tried;
    run(1, 2600, NULL, &tried);
    /* most random hierarchies are valid, and most reads are checked */
    CU_ASSERT(tried.accepted > 5 * tried.refused);
    CU_ASSERT(tried.refused > 0);
    CU_ASSERT(tried.in_parts > 100);
    CU_ASSERT(tried.reads_checked > 50 * (uint64_t)tried.accepted / 4);
}

static bool is_coherent(const struct hierarchy_settings *settings)
{
    return settings->coherence != CACHE_INCOHERENT || settings->automatic_coherence;
}

static void test_coherent(void)
{
    struct tried tried;
    run(1000000, 2000, is_coherent, &tried);
    CU_ASSERT(tried.accepted > 300);
}

static bool is_strict(const struct hierarchy_settings *settings)
{
    bool strict = false;
    for (unsigned level = 1; level < settings->level_count; level++)
        strict = strict || settings->levels[level].inclusion != CACHE_NEITHER;
    return strict;
}

static void test_strict(void)
{
    struct tried tried;
    run(2000000, 2000, is_strict, &tried);
    CU_ASSERT(tried.accepted > 300);
}

static const struct test_case cases[] = {{"all hierarchies", test_anything},
                                         {"coherent hierarchies", test_coherent},
                                         {"inclusive and exclusive hierarchies", test_strict},
                                         {NULL, NULL}};
TEST_SUITE(hierarchy_random, cases)
