/* The intervals that reports give around the estimated misses of the optimum: how often they
 * contain the counted ones. */
#include "tests/suites.h"
#include "tests/support/varied_trace.h"
#include "tools/cache/optimum_bound.h"

#include <math.h>
#include <stdlib.h>

#define TRACES     500u
#define REFERENCES 24000u
#define LINE       64u

static const struct {
    uint32_t sets, ways;
    enum cache_replacement replacement;
    bool warm;
} configurations[] = {{64, 8, CACHE_LRU, false},
                      {256, 4, CACHE_LRU, false},
                      {96, 2, CACHE_SRRIP, false},
                      {128, 4, CACHE_FIFO, true}};
#define CONFIGURATIONS (sizeof configurations / sizeof *configurations)

static struct hierarchy_settings settings_of(unsigned configuration)
{
    struct hierarchy_settings settings = {.level_count = 1};
    settings.levels[0].sides[0] =
        (struct cache_settings){.line = LINE,
                                .ways = configurations[configuration].ways,
                                .size = (uint64_t)LINE * configurations[configuration].ways *
                                        configurations[configuration].sets,
                                .replacement = configurations[configuration].replacement};
    return settings;
}

static struct cache_counters simulate(const struct hierarchy_settings *settings,
                                      const struct record *records, size_t warm)
{
    struct hierarchy *hierarchy;
    struct bt_error error;
    CU_ASSERT_FATAL(hierarchy_new(&hierarchy, settings, &error) == 0);
    CU_ASSERT_FATAL(hierarchy_put(hierarchy, records, warm, &error) == 0);
    if (warm > 0)
        hierarchy_reset_counters(hierarchy);
    CU_ASSERT_FATAL(hierarchy_put(hierarchy, records + warm, REFERENCES - warm, &error) == 0);
    const struct cache_counters counters =
        hierarchy_cache_counters(hierarchy, 0, 0, CACHE_INSTRUCTION);
    hierarchy_free(hierarchy);
    return counters;
}

struct score {
    unsigned within, of, exact;
    double width; /* sum of the half-widths, as shares of the misses */
};

/* Compares the interval of a kind, or of all, with the counted optimum. */
static void judge(const struct hierarchy_settings *settings, const struct cache_counters *exact,
                  const struct cache_counters *sampled, unsigned kind, struct score *score)
{
    const struct optimum_bound bound = optimum_bound(settings, 0, CACHE_INSTRUCTION, sampled, kind);
    const bool all = kind == REFERENCE_KINDS;
    const double references =
        (double)(all ? reference_kinds_sum(sampled->references) : sampled->references[kind]);
    const double counted =
        (double)(all ? reference_kinds_sum(exact->optimum_misses) : exact->optimum_misses[kind]);
    const double misses = (double)reference_kinds_sum(sampled->line_misses);
    const double away = (bound.ratio * references - counted) / (references > 0 ? references : 1);
    CU_ASSERT(bound.known);
    score->of++;
    score->within += -bound.error - 1e-9 <= away && away <= bound.error + 1e-9;
    score->exact += bound.error == 0;
    score->width += misses > 0 ? bound.error * references / misses : 0;
    if (bound.error == 0) /* no interval: the number is that of --optimum */
        CU_ASSERT_EQUAL(bound.misses, (uint64_t)counted);
}

/* The lowest count of successes in so many tries that a share of 95 % makes likely: 1.64 standard
 * deviations below it. */
static double likely(unsigned tries)
{
    return 0.95 * tries - 1.64 * sqrt(0.95 * 0.05 * tries);
}

static void make_records(struct record *records, uint64_t seed, unsigned configuration)
{
    uint32_t *lines = malloc(REFERENCES * sizeof *lines);
    CU_ASSERT_FATAL(lines != NULL);
    const uint32_t sets = configurations[configuration].sets;
    varied_trace(seed, sets, sets * configurations[configuration].ways, lines, REFERENCES);
    for (size_t i = 0; i < REFERENCES; i++)
        records[i] =
            (struct record){.type = (lines[i] ^ i) % 5 ? REQUEST_MEMREAD : REQUEST_MEMWRITE,
                            .size = 4,
                            .address = lines[i] * LINE};
    free(lines);
}

/* Of 500 different traces, 95 % of the intervals or more contain the counted misses: for each
 * cache, for each kind of trace, and for reads and writes alone. */
static void test_coverage(void)
{
    struct record *records = malloc(REFERENCES * sizeof *records);
    struct score by_trace[VARIED_KINDS] = {{0}};
    CU_ASSERT_FATAL(records != NULL);
    for (unsigned c = 0; c < CONFIGURATIONS; c++) {
        struct score all = {0}, reads = {0}, writes = {0};
        for (uint64_t seed = 1; seed <= TRACES; seed++) {
            const size_t warm = configurations[c].warm ? REFERENCES / 4 : 0;
            struct hierarchy_settings settings = settings_of(c);
            make_records(records, seed, c);
            settings.optimum = true;
            const struct cache_counters exact = simulate(&settings, records, warm);
            settings.optimum = false;
            settings.optimum_sample = true;
            const struct cache_counters sampled = simulate(&settings, records, warm);
            judge(&settings, &exact, &sampled, REFERENCE_KINDS, &all);
            judge(&settings, &exact, &sampled, REFERENCE_KINDS, &by_trace[seed % VARIED_KINDS]);
            judge(&settings, &exact, &sampled, REFERENCE_READ, &reads);
            judge(&settings, &exact, &sampled, REFERENCE_WRITE, &writes);
        }
        CU_ASSERT(all.within >= likely(all.of));
        CU_ASSERT(reads.within >= likely(reads.of));
        CU_ASSERT(writes.within >= likely(writes.of));
        CU_ASSERT(all.exact < TRACES / 10);
        CU_ASSERT(all.width < 0.2 * TRACES);
    }
    for (unsigned kind = 0; kind < VARIED_KINDS; kind++)
        CU_ASSERT(by_trace[kind].within >= likely(by_trace[kind].of));
    free(records);
}

static const struct test_case cases[] = {{"coverage of the intervals", test_coverage},
                                         {NULL, NULL}};
TEST_SUITE(optimum_bound, cases)
