/* Each prefetched line is used in time, used late, lost without a use, or still in the cache at the
 * end. Which lines are, a probe finds: one more reference, after which a use is counted or not. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/cache/model/hierarchy.h"

#define RECORDS    120u
#define RUNS       64u
#define LINE       16u
#define LINES      20u                        /* that the trace references */
#define FARTHEST   3u                         /* steps of a prefetch: distance and degree less 1 */
#define AROUND     (FARTHEST * LINES)         /* lines that a prefetch can be away */
#define BASE       (0x10000u + AROUND * LINE) /* address of the first */
#define PROCESSORS 2u

static void random_prefetcher(uint64_t *state, unsigned kind, struct cache_settings *cache)
{
    const uint32_t ways = 1u << random_below(state, 3);
    *cache = (struct cache_settings){
        .line = LINE,
        .ways = ways,
        .size = (uint64_t)LINE * ways * (1u << random_below(state, 3)),
        .replacement = (enum cache_replacement)random_below(state, CACHE_REPLACEMENTS),
        .prefetcher = (enum cache_prefetcher)kind,
        .prefetch_degree = 1 + (uint32_t)random_below(state, 2),
        .prefetch_distance = 1 + (uint32_t)random_below(state, 2),
        .prefetch_page = random_one_in(state, 2) ? 0 : 256,
        .prefetch_latency = (uint32_t)random_below(state, 6)};
}

/* A first level with a prefetcher, and perhaps a second one, coherent or not. */
static void random_settings(uint64_t *state, unsigned kind, struct hierarchy_settings *settings)
{
    const bool coherent = random_one_in(state, 3);
    *settings = (struct hierarchy_settings){.level_count = 1, .seed = random_next(state)};
    settings->levels[0].split = random_one_in(state, 2);
    settings->levels[0].shared = !coherent && random_one_in(state, 3);
    for (unsigned side = 0; side < CACHE_SIDES; side++)
        random_prefetcher(state, kind, &settings->levels[0].sides[side]);
    if (coherent)
        settings->coherence = CACHE_MESI;
    if (random_one_in(state, 2))
        return;
    settings->level_count = 2;
    settings->levels[1].shared = true;
    settings->levels[1].inclusion = random_one_in(state, 2) ? CACHE_INCLUSIVE : CACHE_NEITHER;
    settings->levels[1].sides[0] =
        (struct cache_settings){.line = LINE, .ways = 4, .size = 32ull * LINE};
}

/* Runs, strides and repeated sequences, with and without fetches, so that each prefetcher has work.
 */
static void fill(struct record *records, uint64_t *state)
{
    static const uint8_t types[] = {REQUEST_MEMREAD,  REQUEST_MEMREAD, REQUEST_MEMREAD,
                                    REQUEST_MEMWRITE, REQUEST_FETCH,   REQUEST_FETCH};
    const uint64_t type_count = sizeof types - (random_one_in(state, 2) ? 2 : 0);
    uint32_t line = 0, step = 1;
    for (size_t i = 0; i < RECORDS; i++) {
        if (random_one_in(state, 15)) {
            step = (uint32_t)random_below(state, 6);
            line = (uint32_t)random_below(state, LINES);
        }
        line = step < 5 ? (line + step) % LINES : (line * 7 + 3) % LINES;
        records[i] = (struct record){.type = types[random_below(state, type_count)],
                                     .size = 4,
                                     .attribute = 7,
                                     .processor = (uint8_t)random_below(state, PROCESSORS),
                                     .address = BASE + line * LINE};
    }
}

/* The counters of a cache of level 1 after all records, and one more unless it is NULL. */
static struct cache_counters count(const struct hierarchy_settings *settings,
                                   const struct record *records, const struct record *probe,
                                   uint8_t processor, enum cache_side side)
{
    struct hierarchy *hierarchy = NULL;
    struct bt_error error;
    CU_ASSERT_EQUAL_FATAL(hierarchy_new(&hierarchy, settings, &error), 0);
    CU_ASSERT_EQUAL(hierarchy_put(hierarchy, records, RECORDS, &error), 0);
    if (probe)
        CU_ASSERT_EQUAL(hierarchy_put(hierarchy, probe, 1, &error), 0);
    CU_ASSERT_EQUAL(hierarchy_end(hierarchy, &error), 0);
    const struct cache_counters counters = hierarchy_cache_counters(hierarchy, 0, processor, side);
    hierarchy_free(hierarchy);
    return counters;
}

static uint64_t used(const struct cache_counters *counters)
{
    return counters->prefetch_covered + counters->prefetch_late;
}

/* The prefetched lines that are in a cache at the end and were not used. */
static uint64_t count_unused(const struct hierarchy_settings *settings,
                             const struct record *records, uint8_t processor, enum cache_side side,
                             uint64_t before)
{
    uint64_t unused = 0;
    for (uint32_t line = 0; line < LINES + 2 * AROUND; line++) {
        const struct record probe = {.type = side == CACHE_DATA ? REQUEST_MEMREAD : REQUEST_FETCH,
                                     .size = 4,
                                     .attribute = 7,
                                     .processor = processor,
                                     .address = BASE + (line - AROUND) * LINE};
        const struct cache_counters after = count(settings, records, &probe, processor, side);
        CU_ASSERT(used(&after) == before || used(&after) == before + 1);
        unused += used(&after) - before;
    }
    return unused;
}

/* What happened to the lines that the prefetchers of a kind prefetched. */
struct ends {
    uint64_t covered, late, useless, unused;
};

static void balance(const struct hierarchy_settings *settings, const struct record *records,
                    struct ends *ends)
{
    const struct cache_level *level = &settings->levels[0];
    for (unsigned processor = 0; processor < (level->shared ? 1 : PROCESSORS); processor++)
        for (unsigned side = 0; side < (level->split ? CACHE_SIDES : 1u); side++) {
            const struct cache_counters counters =
                count(settings, records, NULL, (uint8_t)processor, (enum cache_side)side);
            const uint64_t unused = count_unused(settings, records, (uint8_t)processor,
                                                 (enum cache_side)side, used(&counters));
            CU_ASSERT_EQUAL(used(&counters) + counters.prefetch_useless + unused,
                            reference_kinds_sum(counters.prefetch_misses));
            CU_ASSERT_EQUAL(reference_kinds_sum(counters.prefetches),
                            reference_kinds_sum(counters.prefetch_misses));
            ends->covered += counters.prefetch_covered;
            ends->late += counters.prefetch_late;
            ends->useless += counters.prefetch_useless;
            ends->unused += unused;
        }
}

static void test_balance(void)
{
    struct ends ends[CACHE_PREFETCHERS] = {{0}};
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        const unsigned kind = 1 + (unsigned)(seed % (CACHE_PREFETCHERS - 1));
        struct record records[RECORDS];
        struct hierarchy_settings settings;
        uint64_t state = random_seed(seed);
        random_settings(&state, kind, &settings);
        fill(records, &state);
        balance(&settings, records, &ends[kind]);
    }
    for (unsigned kind = CACHE_NO_PREFETCHER + 1; kind < CACHE_PREFETCHERS; kind++) {
        CU_ASSERT(ends[kind].covered > RUNS / 2);
        CU_ASSERT(ends[kind].late > RUNS / 2);
        CU_ASSERT(ends[kind].useless > RUNS);
        CU_ASSERT(ends[kind].unused > RUNS / 16);
    }
}

static const struct test_case cases[] = {{"an end for each prefetch", test_balance}, {NULL, NULL}};
TEST_SUITE(prefetch_properties, cases)
