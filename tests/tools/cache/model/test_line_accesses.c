/* Accesses of contended lines, against the counters of the slow simulator before and after each
 * record. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/random_hierarchy.h"
#include "tests/support/slow_cache.h"
#include "tools/cache/model/line_values.h"
#include "tools/cache/study/results.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS  150u
#define ROWS_MAX (RECORDS * 256u)
#define TRACES   600u
#define WRITE(at)                                                                                  \
    {                                                                                              \
        .address = (at), .type = REQUEST_MEMWRITE, .size = 8, .processor = ((at) / 8) % 2          \
    }

struct twin {
    struct slow_cache *cache;
    uint32_t line; /* bytes */
    uint32_t fetched[CACHE_PROCESSORS];
    bool fetches[CACHE_PROCESSORS];
    struct line_access *rows;
    size_t count;
};

static struct cache_line_counters counters_of(const struct cache_line_counters *lines, size_t count,
                                              uint32_t address)
{
    for (size_t i = 0; i < count; i++)
        if (lines[i].address == address)
            return lines[i];
    return (struct cache_line_counters){.address = address};
}

static struct line_access *twin_row(struct twin *twin, const struct line_access *wanted)
{
    for (size_t i = 0; i < twin->count; i++)
        if (line_access_compare(&twin->rows[i], wanted) == 0)
            return &twin->rows[i];
    CU_ASSERT_FATAL(twin->count < ROWS_MAX);
    twin->rows[twin->count] = *wanted;
    return &twin->rows[twin->count++];
}

/* The bytes of a record in one line. */
static void twin_part(struct twin *twin, const struct record *record, uint32_t address,
                      uint32_t bytes, const struct cache_line_counters *before,
                      const struct cache_line_counters *after)
{
    const struct line_access wanted = {.line = before->address,
                                       .offset = address - before->address,
                                       .bytes = bytes,
                                       .processor = record->processor,
                                       .known = twin->fetches[record->processor],
                                       .instruction = twin->fetched[record->processor]};
    if (cache_line_traffic(after) == 0)
        return;
    struct line_access *row = twin_row(twin, &wanted);
    row->references[reference_kind_of(record->type)]++;
    row->traffic += cache_line_traffic(after) - cache_line_traffic(before);
    row->true_sharing += after->true_sharing - before->true_sharing;
    row->false_sharing += after->false_sharing - before->false_sharing;
}

static void twin_put(struct twin *twin, const struct record *record)
{
    struct cache_line_counters *before, *after;
    size_t before_count, after_count;
    slow_cache_lines(twin->cache, &before, &before_count);
    slow_cache_put(twin->cache, record, 1);
    slow_cache_lines(twin->cache, &after, &after_count);
    const enum reference_kind kind = reference_kind_of(record->type);
    if (kind == REFERENCE_FETCH) {
        twin->fetched[record->processor] = record->size < 16 ? record->address : 0;
        twin->fetches[record->processor] = record->size < 16;
    }
    uint32_t address = record->address;
    uint32_t left = kind == REFERENCE_NONE ? 0 : reference_bytes(record);
    while (left > 0) {
        const uint32_t first = address / twin->line * twin->line;
        const uint32_t room = first + twin->line - address;
        const uint32_t bytes = left < room ? left : room;
        const struct cache_line_counters old = counters_of(before, before_count, first);
        const struct cache_line_counters new = counters_of(after, after_count, first);
        twin_part(twin, record, address, bytes, &old, &new);
        address += bytes;
        left -= bytes;
    }
    free(before);
    free(after);
}

/* The rows of all parts of the simulation. */
static void engine_rows(struct cache_results *results, const struct hierarchy_settings *settings,
                        const struct record *records, unsigned parts)
{
    struct bt_error error;
    for (unsigned part = 0; part < parts; part++) {
        struct hierarchy *hierarchy;
        struct cache_results one;
        CU_ASSERT_EQUAL_FATAL(hierarchy_new_part(&hierarchy, settings, part, parts, &error), 0);
        CU_ASSERT_EQUAL(hierarchy_put(hierarchy, records, RECORDS / 2, &error), 0);
        CU_ASSERT_EQUAL(
            hierarchy_put(hierarchy, records + RECORDS / 2, RECORDS - RECORDS / 2, &error), 0);
        CU_ASSERT_EQUAL(cache_results_take(part == 0 ? results : &one, hierarchy, settings, &error),
                        0);
        if (part > 0) {
            CU_ASSERT_EQUAL(cache_results_add(results, &one, &error), 0);
            cache_results_clear(&one);
        }
        hierarchy_free(hierarchy);
    }
}

static bool same_rows(const struct cache_results *results, struct twin *twin)
{
    qsort(twin->rows, twin->count, sizeof *twin->rows, line_access_compare);
    return results->access_count == twin->count && results->accesses_least == 1 &&
           memcmp(results->accesses, twin->rows, twin->count * sizeof *twin->rows) == 0;
}

/* A hierarchy for which the counters of a record's lines are those of its own references. */
static bool is_usable(const struct hierarchy_settings *settings)
{
    bool usable = (settings->coherence != CACHE_INCOHERENT || settings->automatic_coherence) &&
                  !settings->honour_attributes && hierarchy_check(settings, NULL) == 0;
    for (unsigned level = 0; level < settings->level_count; level++)
        for (unsigned side = 0; side < CACHE_SIDES; side++)
            usable = usable && settings->levels[level].sides[side].prefetch == CACHE_NO_PREFETCH &&
                     settings->levels[level].sides[side].prefetcher == CACHE_NO_PREFETCHER;
    return usable;
}

/* Returns the number of rows with traffic. */
static unsigned compare(const struct hierarchy_settings *settings, const struct record *records,
                        struct twin *twin, unsigned parts)
{
    struct cache_results results;
    unsigned busy = 0;
    engine_rows(&results, settings, records, parts);
    CU_ASSERT(same_rows(&results, twin));
    for (size_t i = 0; i < results.access_count; i++)
        busy += results.accesses[i].traffic > 0;
    cache_results_clear(&results);
    return busy;
}

static void test_twin(void)
{
    unsigned compared = 0, busy = 0, divided = 0;
    struct twin twin = {.rows = calloc(ROWS_MAX, sizeof *twin.rows)};
    CU_ASSERT_FATAL(twin.rows != NULL);
    for (uint64_t seed = 1; seed <= 5 * TRACES && compared < TRACES; seed++) {
        struct record records[RECORDS];
        struct hierarchy_settings settings;
        uint64_t state = random_seed(seed);
        random_hierarchy(&state, &settings);
        settings.accesses = true;
        random_references(&state, &settings, records, RECORDS);
        if (!is_usable(&settings) || !(twin.cache = slow_cache_new(&settings)))
            continue;
        twin.line = settings.levels[0].sides[0].line;
        twin.count = 0;
        memset(twin.fetches, 0, sizeof twin.fetches);
        memset(twin.fetched, 0, sizeof twin.fetched);
        memset(twin.rows, 0, ROWS_MAX * sizeof *twin.rows);
        for (unsigned i = 0; i < RECORDS; i++)
            twin_put(&twin, &records[i]);
        slow_cache_free(twin.cache);
        busy += compare(&settings, records, &twin, 1);
        compared++;
        if (hierarchy_parts_max(&settings) < 2)
            continue;
        compare(&settings, records, &twin, 2);
        divided++;
    }
    free(twin.rows);
    CU_ASSERT(compared > 100);
    CU_ASSERT(busy > 1000);
    CU_ASSERT(divided > 20);
}

/* Lines of 16 bytes: line n gets the traffic n + 1, then an access of its own. */
static void put_lines(struct line_accesses *accesses, struct line_values *lines, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        const struct record record = WRITE(n * 16);
        line_accesses_begin(accesses, record.address);
        struct cache_line_counters *line = line_values_add(lines, n * 16);
        CU_ASSERT_FATAL(line != NULL);
        *line = (struct cache_line_counters){.address = n * 16, .upgrades = n + 1};
        line_accesses_record(accesses, &record);
        CU_ASSERT_EQUAL(line_accesses_end(accesses, &record, record.address, 8), 0);
    }
}

static void test_limit(void)
{
    struct line_values lines = {.value_bytes = sizeof(struct cache_line_counters)};
    struct line_accesses *accesses = line_accesses_new(&lines, 4, 100);
    struct line_access *rows;
    struct bt_error error;
    size_t count;
    CU_ASSERT_FATAL(accesses != NULL);
    put_lines(accesses, &lines, 100);
    CU_ASSERT_EQUAL(line_accesses_least(accesses), 1);
    CU_ASSERT_EQUAL(line_accesses_take(accesses, &rows, &count, &error), 0);
    CU_ASSERT_EQUAL(count, 100);
    free(rows);
    /* one more: only those with a traffic of 64 or more, at most half of the limit, are kept */
    const struct record more = WRITE(99 * 16 + 8);
    CU_ASSERT_EQUAL(line_accesses_put(accesses, &more, 1), 0);
    CU_ASSERT_EQUAL(line_accesses_least(accesses), 64);
    CU_ASSERT_EQUAL(line_accesses_take(accesses, &rows, &count, &error), 0);
    CU_ASSERT_EQUAL_FATAL(count, 38);
    for (size_t i = 0; i < 37; i++) {
        CU_ASSERT_EQUAL(rows[i].line, (63 + i) * 16);
        CU_ASSERT_EQUAL(rows[i].traffic, 64 + i);
    }
    CU_ASSERT_EQUAL(rows[37].offset, 8);
    free(rows);
    /* a line below that is not counted, one above is */
    const struct record few[] = {WRITE(0), WRITE(80 * 16)};
    CU_ASSERT_EQUAL(line_accesses_put(accesses, few, 2), 0);
    CU_ASSERT_EQUAL(line_accesses_take(accesses, &rows, &count, &error), 0);
    CU_ASSERT_EQUAL_FATAL(count, 38);
    CU_ASSERT_EQUAL(rows[80 - 63].references[REFERENCE_WRITE], 2);
    free(rows);
    line_accesses_reset(accesses);
    CU_ASSERT_EQUAL(line_accesses_least(accesses), 1);
    CU_ASSERT_EQUAL(line_accesses_take(accesses, &rows, &count, &error), 0);
    CU_ASSERT_EQUAL(count, 0);
    free(rows);
    line_accesses_free(accesses);
    line_values_clear(&lines);
}

/* The counts of the warm-up are forgotten, its last fetch is not. */
static void test_reset(void)
{
    const struct hierarchy_settings settings = {
        .level_count = 1,
        .coherence = CACHE_MESI,
        .accesses = true,
        .levels = {{.split = true,
                    .sides = {{.size = 512, .line = 64, .ways = 2},
                              {.size = 512, .line = 64, .ways = 2}}}}};
    const struct record records[] = {
        {.address = 0x1000, .type = REQUEST_FETCH, .size = 4, .processor = 1}, WRITE(0), WRITE(8)};
    struct hierarchy *hierarchy;
    struct line_access *rows;
    struct bt_error error;
    uint64_t least;
    size_t count;
    CU_ASSERT_EQUAL_FATAL(hierarchy_new(&hierarchy, &settings, &error), 0);
    CU_ASSERT_EQUAL(hierarchy_put(hierarchy, records, 3, &error), 0);
    hierarchy_reset_counters(hierarchy);
    CU_ASSERT_EQUAL(hierarchy_accesses(hierarchy, &rows, &count, &least, &error), 0);
    CU_ASSERT_EQUAL(count, 0);
    free(rows);
    CU_ASSERT_EQUAL(hierarchy_put(hierarchy, records + 1, 2, &error), 0);
    CU_ASSERT_EQUAL(hierarchy_accesses(hierarchy, &rows, &count, &least, &error), 0);
    CU_ASSERT_EQUAL_FATAL(count, 2);
    CU_ASSERT_EQUAL(rows[0].processor, 0);
    CU_ASSERT_EQUAL(rows[0].known, 0);
    CU_ASSERT_EQUAL(rows[0].traffic, 2); /* an intervention and an invalidation */
    CU_ASSERT_EQUAL(rows[1].offset, 8);
    CU_ASSERT_EQUAL(rows[1].instruction, 0x1000);
    CU_ASSERT_EQUAL(rows[1].references[REFERENCE_WRITE], 1);
    free(rows);
    /* a fetch of 16 bytes is no instruction */
    const struct record transfer[] = {
        {.address = 0x2000, .type = REQUEST_FETCH, .size = 16, .processor = 1}, WRITE(8)};
    CU_ASSERT_EQUAL(hierarchy_put(hierarchy, transfer, 2, &error), 0);
    CU_ASSERT_EQUAL(hierarchy_accesses(hierarchy, &rows, &count, &least, &error), 0);
    CU_ASSERT_EQUAL_FATAL(count, 3);
    CU_ASSERT_EQUAL(rows[1].known, 0);
    CU_ASSERT_EQUAL(rows[1].instruction, 0);
    free(rows);
    hierarchy_free(hierarchy);
}

static const struct test_case cases[] = {
    {"slow simulator", test_twin}, {"limit", test_limit}, {"warm-up", test_reset}, {NULL, NULL}};
TEST_SUITE(cache_line_accesses, cases)
