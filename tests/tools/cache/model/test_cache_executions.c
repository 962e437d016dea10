/* Caches count the same from executions of blocks as from their records: random hierarchies of
 * those that take them, and random programs, whose data may lie in their code. */
#include "tests/suites.h"
#include "tests/support/block_coder.h"
#include "tests/support/program_records.h"
#include "tests/support/random.h"
#include "tests/support/random_hierarchy.h"
#include "tools/cache/model/hierarchy_internal.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS_MAX 20000u

struct tried {
    unsigned unified, split, agents; /* shape at the end */
};

/* Makes the caches plain, as those must be that take executions. */
static void make_plain(struct hierarchy_settings *settings, uint64_t *random)
{
    const uint32_t line = 32u << random_below(random, 3);
    settings->classify = settings->honour_attributes = false;
    for (unsigned level = 0; level < settings->level_count; level++) {
        settings->levels[level].inclusion = CACHE_NEITHER;
        for (unsigned side = 0; side < CACHE_SIDES; side++) {
            const uint32_t ways = 1 + (uint32_t)random_below(random, 8);
            settings->levels[level].sides[side] =
                (struct cache_settings){.line = line,
                                        .ways = ways,
                                        .size = (uint64_t)line * ways << random_below(random, 7)};
        }
    }
}

/* Puts all addresses into a few lines, in their order, with data among the code. */
static void fold(struct record *records, size_t count, uint32_t line, uint64_t *random)
{
    const uint32_t bytes = line << (1 + random_below(random, 8));
    const uint32_t base = random_one_in(random, 4) ? 0u - bytes / 2 : random_next32(random);
    for (size_t i = 0; i < count; i++)
        records[i].address = base + records[i].address % bytes;
}

/* By executions in members of random size; the same by records for a NULL coder. */
static void put_all(struct hierarchy *hierarchy, const struct record *records, size_t count,
                    struct block_coder *coder, uint64_t seed)
{
    uint64_t random = random_seed(seed);
    struct hierarchy_blocks *blocks = hierarchy_blocks_new(hierarchy, NULL);
    CU_ASSERT_FATAL(blocks != NULL);
    for (size_t at = 0, some; at < count; at += some) {
        some = 1 + (size_t)random_below(&random, random_one_in(&random, 3) ? 50 : RECORDS_MAX);
        some = some < count - at ? some : count - at;
        const struct block_executions *executions =
            coder ? block_coder_put(coder, records + at, some) : NULL;
        CU_ASSERT_FATAL(!coder || executions);
        CU_ASSERT((executions ? hierarchy_put_executions(blocks, executions, NULL)
                              : hierarchy_put(hierarchy, records + at, some, NULL)) == 0);
    }
    CU_ASSERT_EQUAL(hierarchy_end(hierarchy, NULL), 0);
    hierarchy_blocks_free(blocks);
}

static bool same_counters(const struct hierarchy *a, const struct hierarchy *b)
{
    struct hierarchy_counters all[2];
    bool same = hierarchy_coherence(a) == hierarchy_coherence(b);
    hierarchy_counters(a, &all[0]);
    hierarchy_counters(b, &all[1]);
    same = same && memcmp(&all[0], &all[1], sizeof *all) == 0;
    for (unsigned level = 0; level < CACHE_LEVELS; level++)
        for (unsigned processor = 0; processor < CACHE_PROCESSORS; processor++)
            for (unsigned side = 0; side < CACHE_SIDES; side++) {
                const struct cache_counters one =
                    hierarchy_cache_counters(a, level, (uint8_t)processor, (enum cache_side)side);
                const struct cache_counters other =
                    hierarchy_cache_counters(b, level, (uint8_t)processor, (enum cache_side)side);
                same = same && memcmp(&one, &other, sizeof one) == 0;
            }
    return same;
}

static bool same_lines(const struct hierarchy *a, const struct hierarchy *b)
{
    struct cache_line_counters *lines[2];
    size_t counts[2];
    CU_ASSERT_FATAL(hierarchy_lines(a, &lines[0], &counts[0], NULL) == 0);
    CU_ASSERT_FATAL(hierarchy_lines(b, &lines[1], &counts[1], NULL) == 0);
    const bool same =
        counts[0] == counts[1] && memcmp(lines[0], lines[1], counts[0] * sizeof **lines) == 0;
    free(lines[0]);
    free(lines[1]);
    return same;
}

/* One random hierarchy and program. */
static void try_one(uint64_t seed, struct block_coder *coder, struct tried *tried)
{
    static struct record records[RECORDS_MAX];
    struct hierarchy_settings settings;
    struct hierarchy *hierarchies[2];
    uint64_t random = random_seed(seed);
    random_hierarchy(&random, &settings);
    if (!random_one_in(&random, 4))
        make_plain(&settings, &random);
    if (hierarchy_new(&hierarchies[0], &settings, NULL) < 0)
        return;
    if (!hierarchy_takes_executions(hierarchies[0])) {
        hierarchy_free(hierarchies[0]);
        return;
    }
    CU_ASSERT_FATAL(hierarchy_new(&hierarchies[1], &settings, NULL) == 0);
    const size_t count = 1 + (size_t)random_below(&random, RECORDS_MAX);
    program_records_fill(records, count, (unsigned)random_below(&random, PROGRAM_RECORDS_ALL + 1),
                         &random);
    if (!random_one_in(&random, 3))
        fold(records, count, settings.levels[0].sides[0].line, &random);
    put_all(hierarchies[0], records, count, NULL, seed);
    put_all(hierarchies[1], records, count, coder, seed);
    const bool same =
        same_counters(hierarchies[0], hierarchies[1]) && same_lines(hierarchies[0], hierarchies[1]);
    if (!same)
        printf("seed %llu: %zu records\n", (unsigned long long)seed, count);
    CU_ASSERT(same);
    *(hierarchies[1]->shape == SHAPE_AGENTS ? &tried->agents
      : settings.levels[0].split            ? &tried->split
                                            : &tried->unified) += 1;
    hierarchy_free(hierarchies[0]);
    hierarchy_free(hierarchies[1]);
}

static void test_same_as_records(void)
{
    struct block_coder coder;
    struct tried tried = {.agents = 0};
    CU_ASSERT_FATAL(block_coder_make(&coder, RECORDS_MAX));
    for (uint64_t seed = 1; seed <= 2000; seed++)
        try_one(seed, &coder, &tried);
    CU_ASSERT(tried.unified > 20);
    CU_ASSERT(tried.split > 20);
    CU_ASSERT(tried.agents > 20);
    block_coder_clear(&coder);
}

static const struct test_case cases[] = {{"the same as records", test_same_as_records},
                                         {NULL, NULL}};
TEST_SUITE(cache_executions, cases)
