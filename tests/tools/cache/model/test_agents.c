/* Narrow level 1 caches (tools/cache/model/narrow_internal.h), coherent ones whose sets are joined
 * (agents_internal.h) and others, and queued requests to the levels below (requests_internal.h),
 * against the slow simulator: every protocol, few and many processors, in one word of a match and
 * in several.
 */
#include "tests/suites.h"
#include "tests/support/cache_compare.h"
#include "tests/support/random.h"
#include "tests/support/random_hierarchy.h"

#define RECORDS_MAX 300u
#define LONG        6000u /* more than all queues hold */

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

/* Records of a processor follow each other, and many go to the line of the record before. */
static void make_turns(uint64_t *state, struct record *records, size_t count, unsigned processors)
{
    uint8_t processor = 0;
    for (size_t i = 0; i < count; i++) {
        if (random_one_in(state, 8))
            processor = (uint8_t)random_below(state, processors);
        records[i].processor = processor;
        if (i > 0 && random_one_in(state, 2))
            records[i].address = records[i - 1].address;
    }
}

/* Plain levels below, shared or not, unified or not. */
static void some_levels(uint64_t *state, struct hierarchy_settings *settings)
{
    const bool coherent = settings->coherence != CACHE_INCOHERENT || settings->automatic_coherence;
    settings->level_count = 1 + (unsigned)random_below(state, CACHE_LEVELS);
    for (unsigned number = 1; number < settings->level_count; number++) {
        struct cache_level *level = &settings->levels[number];
        const struct cache_settings *above = settings->levels[number - 1].sides;
        const uint32_t line = above->line << random_one_in(state, 4);
        level->shared = coherent || settings->levels[number - 1].shared || random_one_in(state, 2);
        level->split = settings->levels[number - 1].split && random_one_in(state, 2);
        for (unsigned side = 0; side < CACHE_SIDES; side++)
            level->sides[side] = some_cache(state, line, 2u << number);
    }
}

/* Long runs with turns; hierarchies that are coherent, and those that are not. */
static void test_turns(void)
{
    static struct record records[LONG];
    unsigned failed = 0, tried = 0;
    for (uint64_t seed = 20000; seed < 20120 && failed < 3; seed++) {
        struct hierarchy_settings settings;
        struct cache_compare compare;
        uint64_t state = random_seed(seed);
        some_agents(&state, &settings);
        if (random_one_in(&state, 3)) {
            settings.coherence = CACHE_INCOHERENT;
            settings.accesses = settings.automatic_coherence = false;
        }
        some_levels(&state, &settings);
        if (hierarchy_check(&settings, NULL) < 0)
            continue;
        const size_t count = random_one_in(&state, 4) ? LONG : RECORDS_MAX;
        random_references(&state, &settings, records, count);
        make_turns(&state, records, count, 1 + (unsigned)(seed % 5));
        cache_compare(&compare, &settings, records, count, false);
        tried++;
        failed += !compare.same && !cache_agree(&settings, records, count, seed);
    }
    CU_ASSERT_EQUAL(failed, 0);
    CU_ASSERT(tried > 60);
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

static const struct test_case cases[] = {{"a few processors", test_few},
                                         {"many processors", test_many},
                                         {"turns of processors", test_turns},
                                         {NULL, NULL}};
TEST_SUITE(agents, cases)
