/* Coherent level 1 caches whose sets are joined (tools/cache/model/agents_internal.h), against the
 * slow simulator: every protocol, few and many processors, in one word of a match and in several.
 */
#include "tests/suites.h"
#include "tests/support/cache_compare.h"
#include "tests/support/random.h"
#include "tests/support/random_hierarchy.h"

#define RECORDS_MAX 300u

static struct cache_settings some_cache(uint64_t *state, uint32_t line, uint32_t sets)
{
    static const uint32_t ways[] = {1, 2, 3, 4, 6, 8, 16};
    const uint32_t some = ways[random_below(state, sizeof ways / sizeof *ways)];
    return (struct cache_settings){
        .size = (uint64_t)sets * some * line, .line = line, .ways = some};
}

/* Level 1 with the same sets on both sides, level 2 shared or none; all plain. */
static void some_agents(uint64_t *state, struct hierarchy_settings *settings)
{
    const uint32_t line = 32u << random_below(state, 3);
    const uint32_t sets = 1u << random_below(state, 3);
    *settings = (struct hierarchy_settings){
        .level_count = 1 + (unsigned)random_below(state, 2),
        .coherence = (enum cache_coherence)(CACHE_MSI + random_below(state, 4)),
        .optimum = random_one_in(state, 4),
        .accesses = random_one_in(state, 4),
        .plain_readinv = random_one_in(state, 4),
        .no_flush = random_one_in(state, 4)};
    if (random_one_in(state, 4)) {
        settings->coherence = CACHE_INCOHERENT;
        settings->automatic_coherence = true;
    }
    settings->levels[0].split = random_one_in(state, 2);
    for (unsigned side = 0; side < CACHE_SIDES; side++)
        settings->levels[0].sides[side] = some_cache(state, line, sets);
    settings->levels[1].shared = true;
    settings->levels[1].sides[0] = some_cache(state, line << random_below(state, 2), 2 * sets);
}

/* Returns whether both simulators agree. */
static bool try_one(uint64_t seed, unsigned processors)
{
    struct record records[RECORDS_MAX];
    struct hierarchy_settings settings;
    struct cache_compare compare;
    uint64_t state = random_seed(seed);
    some_agents(&state, &settings);
    const size_t count = RECORDS_MAX / 2 + random_below(&state, RECORDS_MAX / 2);
    random_references(&state, &settings, records, count);
    for (size_t i = 0; i < count; i++)
        records[i].processor = (uint8_t)(3 * random_below(&state, processors));
    cache_compare(&compare, &settings, records, count, false);
    return compare.same || cache_agree(&settings, records, count, seed);
}

static void test_few(void)
{
    unsigned failed = 0;
    for (uint64_t seed = 1; seed <= 800 && failed < 3; seed++)
        failed += !try_one(seed, 1 + (unsigned)(seed % 5));
    CU_ASSERT_EQUAL(failed, 0);
}

/* The sets of all agents have more lines than a match has bits. */
static void test_many(void)
{
    unsigned failed = 0;
    for (uint64_t seed = 10000; seed <= 10100 && failed < 3; seed++)
        failed += !try_one(seed, 20 + (unsigned)(seed % 60));
    CU_ASSERT_EQUAL(failed, 0);
}

static const struct test_case cases[] = {
    {"a few processors", test_few}, {"many processors", test_many}, {NULL, NULL}};
TEST_SUITE(agents, cases)
