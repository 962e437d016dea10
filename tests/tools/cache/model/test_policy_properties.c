/* What must hold between replacement policies and sizes, for any trace: no policy beats the
 * optimum, and with LRU and the optimum a set of more ways has all lines of one with fewer. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/cache/model/hierarchy.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS 400u
#define SWEPT   40000u
#define RUNS    90u
#define LINE    16u

/* Sets, ways and the map from lines to sets. */
struct shape {
    uint32_t sets;
    uint32_t ways;
    bool full; /* fully associative; sets is 1 */
    enum cache_hash hash;
};

/* The shape of a run: set-associative, hashed, with sets that are no power of two, or full. */
static struct shape shape_of(uint64_t seed, uint64_t *state)
{
    static const uint32_t odd[] = {3, 5, 6, 7, 12};
    struct shape shape = {.ways = 1u << random_below(state, 4)};
    switch (seed % 4) {
    case 0:
        shape.sets = 1u << random_below(state, 4);
        break;
    case 1:
        shape.sets = 2u << random_below(state, 4);
        shape.hash = CACHE_HASH_XOR;
        break;
    case 2:
        shape.sets = odd[random_below(state, 5)];
        break;
    default:
        shape.sets = 1;
        shape.ways = 1u << (1 + random_below(state, 5));
        shape.full = true;
    }
    return shape;
}

static struct cache_settings cache_of(const struct shape *shape, enum cache_replacement replacement)
{
    return (struct cache_settings){.line = LINE,
                                   .ways = shape->full ? 0 : shape->ways,
                                   .size = (uint64_t)LINE * shape->sets * shape->ways,
                                   .hash = shape->hash,
                                   .replacement = replacement};
}

/* Loops, strides and random references to about twice the lines that the shape has. */
static void fill(struct record *records, const struct shape *shape, uint64_t *state)
{
    static const uint8_t types[] = {REQUEST_MEMREAD, REQUEST_MEMREAD, REQUEST_MEMWRITE,
                                    REQUEST_FETCH};
    const uint32_t lines = 2 * shape->sets * shape->ways + 3;
    uint32_t line = 0, step = 1;
    for (size_t i = 0; i < RECORDS; i++) {
        if (random_one_in(state, 12))
            step = (uint32_t)random_below(state, 2) * (uint32_t)random_below(state, 5);
        line = step > 0 ? (line + step) % lines : (uint32_t)random_below(state, lines);
        records[i] = (struct record){.type = types[random_below(state, sizeof types)],
                                     .size = 4,
                                     .attribute = 7,
                                     .address = line * LINE};
    }
}

static struct hierarchy *make(const struct hierarchy_settings *settings)
{
    struct hierarchy *hierarchy = NULL;
    struct bt_error error;
    CU_ASSERT_EQUAL_FATAL(hierarchy_new(&hierarchy, settings, &error), 0);
    return hierarchy;
}

static void put(struct hierarchy *hierarchy, const struct record *records, size_t count)
{
    struct bt_error error;
    CU_ASSERT_EQUAL_FATAL(hierarchy_put(hierarchy, records, count, &error), 0);
}

/* Counters of the last level after all records. */
static struct cache_counters count(const struct hierarchy_settings *settings,
                                   const struct record *records)
{
    struct hierarchy *hierarchy = make(settings);
    put(hierarchy, records, RECORDS);
    const struct cache_counters counters =
        hierarchy_cache_counters(hierarchy, settings->level_count - 1, 0, CACHE_INSTRUCTION);
    hierarchy_free(hierarchy);
    return counters;
}

/* All policies with one last level: returns how many of them miss more often than the optimum. */
static unsigned compare_policies(struct hierarchy_settings *settings, const struct shape *shape,
                                 const struct record *records)
{
    struct cache_settings *last = &settings->levels[settings->level_count - 1].sides[0];
    const bool no_allocate = last->no_write_allocate;
    uint64_t least[REFERENCE_KINDS] = {0};
    unsigned beaten = 0;
    for (unsigned policy = 0; policy < CACHE_REPLACEMENTS; policy++) {
        *last = cache_of(shape, (enum cache_replacement)policy);
        last->no_write_allocate = no_allocate;
        const struct cache_counters counters = count(settings, records);
        const uint64_t optimum = reference_kinds_sum(counters.optimum_misses);
        const uint64_t misses = reference_kinds_sum(counters.misses);
        CU_ASSERT(optimum <= misses);
        /* the references to the last level do not depend on its policy, hence nor the optimum */
        CU_ASSERT(policy == 0 || memcmp(least, counters.optimum_misses, sizeof least) == 0);
        memcpy(least, counters.optimum_misses, sizeof least);
        beaten += optimum < misses;
    }
    return beaten;
}

static void test_optimum(void)
{
    unsigned beaten[4] = {0};
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct record records[RECORDS];
        uint64_t state = random_seed(seed);
        const struct shape shape = shape_of(seed, &state);
        struct hierarchy_settings settings = {.optimum = true, .seed = seed};
        settings.level_count = 1 + (unsigned)random_below(&state, 2);
        for (unsigned level = 0; level < settings.level_count; level++)
            settings.levels[level].shared = true;
        if (settings.level_count == 2)
            settings.levels[0].sides[0] =
                (struct cache_settings){.line = LINE, .ways = 2, .size = 4ull * LINE};
        settings.levels[settings.level_count - 1].sides[0].no_write_allocate =
            random_one_in(&state, 3);
        fill(records, &shape, &state);
        beaten[seed % 4] += compare_policies(&settings, &shape, records);
    }
    for (unsigned i = 0; i < 4; i++)
        CU_ASSERT(beaten[i] > RUNS); /* of RUNS / 4 traces, with 10 policies each */
}

/* The same caches with more ways: after each record, they have missed only where the small ones
 * did. Returns by how many misses they are better. */
static uint64_t compare_ways(const struct hierarchy_settings *small,
                             const struct hierarchy_settings *large, const struct record *records)
{
    struct hierarchy *const both[] = {make(small), make(large)};
    const unsigned level = small->level_count - 1;
    uint64_t misses[2] = {0};
    for (size_t i = 0; i < RECORDS; i++) {
        uint64_t more[2];
        for (unsigned at = 0; at < 2; at++) {
            put(both[at], records + i, 1);
            const struct cache_counters counters =
                hierarchy_cache_counters(both[at], level, 0, CACHE_INSTRUCTION);
            more[at] = reference_kinds_sum(counters.misses) - misses[at];
            misses[at] += more[at];
        }
        CU_ASSERT(more[1] <= more[0]);
    }
    hierarchy_free(both[0]);
    hierarchy_free(both[1]);
    return misses[0] - misses[1];
}

static void test_inclusion(void)
{
    unsigned better[4] = {0};
    for (uint64_t seed = 0; seed < 2 * (uint64_t)RUNS; seed++) {
        struct record records[RECORDS];
        uint64_t state = random_seed(seed + 1000);
        const struct shape shape = shape_of(seed, &state);
        struct shape wide = shape;
        struct hierarchy_settings small = {.level_count = 1 + (unsigned)random_below(&state, 2)};
        wide.ways = random_one_in(&state, 4) ? shape.ways + 1 : 2 * shape.ways;
        for (unsigned level = 0; level < small.level_count; level++)
            small.levels[level].shared = true;
        small.levels[0].sides[0] =
            (struct cache_settings){.line = LINE, .ways = 2, .size = 4ull * LINE};
        struct hierarchy_settings large = small;
        small.levels[small.level_count - 1].sides[0] = cache_of(&shape, CACHE_LRU);
        large.levels[large.level_count - 1].sides[0] = cache_of(&wide, CACHE_LRU);
        fill(records, &shape, &state);
        better[seed % 4] += compare_ways(&small, &large, records) > 0;
    }
    for (unsigned i = 0; i < 4; i++)
        CU_ASSERT(better[i] > RUNS / 4);
}

/* More ways never cost the optimum a miss. */
static void test_optimum_ways(void)
{
    unsigned better = 0;
    for (uint64_t seed = 0; seed < 2 * (uint64_t)RUNS; seed++) {
        struct record records[RECORDS];
        uint64_t state = random_seed(seed + 2000);
        struct shape shape = shape_of(seed, &state);
        struct hierarchy_settings settings = {.level_count = 1, .optimum = true};
        uint64_t before = UINT64_MAX;
        fill(records, &shape, &state);
        settings.levels[0].shared = true;
        for (unsigned more = 0; more < 4; more++, shape.ways++) {
            settings.levels[0].sides[0] = cache_of(&shape, CACHE_LRU);
            const struct cache_counters counters = count(&settings, records);
            const uint64_t optimum = reference_kinds_sum(counters.optimum_misses);
            CU_ASSERT(optimum <= before);
            better += more > 0 && optimum < before;
            before = optimum;
        }
    }
    CU_ASSERT(better > RUNS);
}

/* Sweeps over more lines than the cache has: each set gets lines in turn, more than its ways. */
static void fill_sweeps(struct record *records, uint32_t lines)
{
    for (size_t i = 0; i < SWEPT; i++)
        records[i] = (struct record){
            .type = REQUEST_MEMREAD, .size = 4, .address = (uint32_t)(i % lines) * LINE};
}

/* Where brrip misses least, drrip follows it in nearly all sets, however few there are. */
static void test_few_sets_duel(void)
{
    static const uint32_t set_counts[] = {8, 16, 32, 48, 64, 100, 256};
    struct record *records = malloc(SWEPT * sizeof *records);
    CU_ASSERT_FATAL(records != NULL);
    for (size_t i = 0; i < sizeof set_counts / sizeof *set_counts; i++) {
        static const enum cache_replacement policies[] = {CACHE_SRRIP, CACHE_BRRIP, CACHE_DRRIP};
        uint64_t misses[3];
        fill_sweeps(records, set_counts[i] * 5);
        for (size_t policy = 0; policy < 3; policy++) {
            struct hierarchy_settings settings = {.level_count = 1};
            settings.levels[0].sides[0] =
                (struct cache_settings){.line = LINE,
                                        .ways = 4,
                                        .size = (uint64_t)LINE * 4 * set_counts[i],
                                        .replacement = policies[policy]};
            struct hierarchy *hierarchy = make(&settings);
            put(hierarchy, records, SWEPT);
            const struct cache_counters counters =
                hierarchy_cache_counters(hierarchy, 0, 0, CACHE_INSTRUCTION);
            misses[policy] = reference_kinds_sum(counters.misses);
            hierarchy_free(hierarchy);
        }
        CU_ASSERT(misses[1] < misses[0]);
        CU_ASSERT(misses[0] - misses[2] > (misses[0] - misses[1]) * 3 / 4);
    }
    free(records);
}

static const struct test_case cases[] = {{"no policy beats the optimum", test_optimum},
                                         {"set dueling in few sets", test_few_sets_duel},
                                         {"inclusion of LRU", test_inclusion},
                                         {"the optimum of more ways", test_optimum_ways},
                                         {NULL, NULL}};
TEST_SUITE(policy_properties, cases)
