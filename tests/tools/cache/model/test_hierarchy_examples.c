/* Small traces, most of them textbook cases, with counters computed by hand. Lines have 16 bytes
 * unless stated. The slow simulator must agree. */
#include "tests/suites.h"
#include "tests/support/cache_compare.h"
#include "tests/support/slow_cache.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS_MAX 64u

/* A trace of words "PKADDRESS:SIZE": processor (a digit), kind (F, R, W, or O: MEMREADINV), address
 * (hexadecimal), and size (4 if omitted); "@ATTRIBUTE" may be there instead of the size. */
static size_t parse(const char *text, struct record *records)
{
    size_t count = 0;
    while (*text) {
        char *end;
        char kind = text[1];
        struct record *record = records + count++;
        *record = (struct record){.processor = (uint8_t)(text[0] - '0'), .attribute = 3, .size = 4};
        record->type = kind == 'F'   ? REQUEST_FETCH
                       : kind == 'R' ? REQUEST_MEMREAD
                       : kind == 'O' ? REQUEST_MEMREADINV
                                     : REQUEST_MEMWRITE;
        record->address = (uint32_t)strtoul(text + 2, &end, 16);
        if (*end == ':')
            record->size = (uint8_t)strtoul(end + 1, &end, 10);
        if (*end == '@')
            record->attribute = (uint8_t)strtoul(end + 1, &end, 10);
        text = end + strspn(end, " ");
    }
    return count;
}

/* Counters: of the caches' first sides, by level and processor; and of the hierarchy. */
struct hierarchy_result {
    struct cache_counters caches[CACHE_LEVELS][3];
    struct hierarchy_counters all;
};

static struct hierarchy_result simulate(const struct hierarchy_settings *settings, const char *text)
{
    struct record records[RECORDS_MAX];
    struct hierarchy_result result;
    struct bt_error error;
    struct hierarchy *hierarchy = NULL;
    memset(&result, 0, sizeof result);
    size_t count = parse(text, records);
    CU_ASSERT(cache_agree(settings, records, count, 0));
    CU_ASSERT_EQUAL_FATAL(hierarchy_new(&hierarchy, settings, &error), 0);
    CU_ASSERT_EQUAL(hierarchy_put(hierarchy, records, count, &error), 0);
    CU_ASSERT_EQUAL(hierarchy_end(hierarchy, &error), 0);
    for (unsigned level = 0; level < settings->level_count; level++)
        for (uint8_t processor = 0; processor < 3; processor++)
            result.caches[level][processor] =
                hierarchy_cache_counters(hierarchy, level, processor, CACHE_INSTRUCTION);
    hierarchy_counters(hierarchy, &result.all);
    hierarchy_free(hierarchy);
    return result;
}

/* One private level of lines of 16 bytes. */
static struct hierarchy_settings one_level(uint64_t lines, uint32_t ways)
{
    struct hierarchy_settings settings;
    memset(&settings, 0, sizeof settings);
    settings.level_count = 1;
    settings.levels[0].sides[0] =
        (struct cache_settings){.size = lines * 16, .line = 16, .ways = ways};
    return settings;
}

/* Adds a shared, fully associative level. */
static struct hierarchy_settings two_levels(uint64_t lines, uint64_t lines_below)
{
    struct hierarchy_settings settings = one_level(lines, 0);
    settings.level_count = 2;
    settings.levels[1].shared = true;
    settings.levels[1].sides[0] = (struct cache_settings){.size = lines_below * 16, .line = 16};
    return settings;
}

static uint64_t read_misses(const struct hierarchy_settings *settings, const char *text)
{
    return simulate(settings, text).caches[0][0].misses[REFERENCE_READ];
}

/* Pages 1 2 3 4 1 2 5 1 2 3 4 5: with FIFO a larger cache misses more (Belady 1969). */
static void test_belady(void)
{
    static const char trace[] = "0R10 0R20 0R30 0R40 0R10 0R20 0R50 0R10 0R20 0R30 0R40 0R50";
    struct hierarchy_settings settings = one_level(3, 0);
    CU_ASSERT_EQUAL(read_misses(&settings, trace), 10);
    settings.levels[0].sides[0].replacement = CACHE_FIFO;
    CU_ASSERT_EQUAL(read_misses(&settings, trace), 9);
    settings = one_level(4, 0);
    CU_ASSERT_EQUAL(read_misses(&settings, trace), 8);
    settings.levels[0].sides[0].replacement = CACHE_FIFO;
    CU_ASSERT_EQUAL(read_misses(&settings, trace), 10);
}

/* Lines A B C D in four ways, then A: the tree points to the right half, there away from D, to C.
 * E evicts C; LRU would evict B. */
static void test_tree(void)
{
    struct hierarchy_settings settings = one_level(4, 4);
    settings.levels[0].sides[0].replacement = CACHE_PLRU;
    CU_ASSERT_EQUAL(read_misses(&settings, "0R0 0R10 0R20 0R30 0R0 0R40 0R10"), 5);
    CU_ASSERT_EQUAL(read_misses(&settings, "0R0 0R10 0R20 0R30 0R0 0R40 0R20"), 6);
    settings.levels[0].sides[0].replacement = CACHE_LRU;
    CU_ASSERT_EQUAL(read_misses(&settings, "0R0 0R10 0R20 0R30 0R0 0R40 0R10"), 6);
    CU_ASSERT_EQUAL(read_misses(&settings, "0R0 0R10 0R20 0R30 0R0 0R40 0R20"), 5);
}

/* Four bytes from 0xfffffffe: two in the last line, two in the first. */
static void test_wrap(void)
{
    struct hierarchy_settings settings = one_level(4, 1);
    struct hierarchy_result result = simulate(&settings, "0Rfffffffe 0R0 0Rfffffff0");
    CU_ASSERT_EQUAL(result.caches[0][0].references[REFERENCE_READ], 4);
    CU_ASSERT_EQUAL(result.caches[0][0].misses[REFERENCE_READ], 2);
    CU_ASSERT_EQUAL(result.caches[0][0].split, 1);
    CU_ASSERT_EQUAL(result.all.memory_bytes[REFERENCE_READ], 32);
}

/* Lines 0 and 2 map to one set: each evicts the other, and the victim buffer returns it. */
static void test_victims(void)
{
    struct hierarchy_settings settings = one_level(2, 1);
    settings.levels[0].sides[0].victim_lines = 1;
    struct hierarchy_result result = simulate(&settings, "0R0 0R20 0R0 0W20 0R0");
    CU_ASSERT_EQUAL(result.caches[0][0].misses[REFERENCE_READ], 4);
    CU_ASSERT_EQUAL(result.caches[0][0].misses[REFERENCE_WRITE], 1);
    CU_ASSERT_EQUAL(result.caches[0][0].victim_hits, 3);
    CU_ASSERT_EQUAL(result.caches[0][0].fills, 2);
    /* at the end, line 2 is dirty in the buffer */
    CU_ASSERT_EQUAL(result.caches[0][0].write_backs, 1);
    CU_ASSERT_EQUAL(result.all.memory_bytes[REFERENCE_WRITE], 16);
}

/* Reads of lines 0, 0, 1, 1, 2. */
static void test_prefetch(void)
{
    static const char trace[] = "0R0 0R4 0R10 0R14 0R20";
    static const struct {
        enum cache_prefetch prefetch;
        uint64_t misses, prefetches, prefetch_misses;
    } wanted[] = {
        {CACHE_NO_PREFETCH, 3, 0, 0},
        {CACHE_PREFETCH_MISS, 2, 2, 2},   /* at 0 (line 1) and at 20 (line 3) */
        {CACHE_PREFETCH_ALWAYS, 1, 5, 3}, /* line 1 twice, 2 twice, 3 */
        {CACHE_PREFETCH_TAGGED, 1, 3, 3}, /* at 0, and at the first touch of 10 and 20 */
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct hierarchy_settings settings = one_level(8, 1);
        settings.levels[0].sides[0].prefetch = wanted[i].prefetch;
        struct cache_counters got = simulate(&settings, trace).caches[0][0];
        CU_ASSERT_EQUAL(got.misses[REFERENCE_READ], wanted[i].misses);
        CU_ASSERT_EQUAL(got.prefetches[REFERENCE_READ], wanted[i].prefetches);
        CU_ASSERT_EQUAL(got.prefetch_misses[REFERENCE_READ], wanted[i].prefetch_misses);
        CU_ASSERT_EQUAL(got.references[REFERENCE_READ], 5);
        CU_ASSERT_EQUAL(got.fills, wanted[i].misses + wanted[i].prefetch_misses);
    }
}

/*
 * One line of 32 bytes in four sub-blocks:
 *   R4:4   line miss, fills sub-block 0
 *   R6:4   touches 0 and 1, of which 1 is missing: a miss that fills both, 16 bytes
 *   W10:8  covers sub-block 2: a miss that fills nothing
 *   W1a:4  lies in sub-block 3: a miss that fills 8 bytes
 *   R20:4  evicts the line: sub-blocks 2 and 3 are written back as one run
 */
static void test_sub_blocks(void)
{
    struct hierarchy_settings settings = one_level(2, 1);
    settings.levels[0].sides[0] =
        (struct cache_settings){.size = 32, .line = 32, .sub_block = 8, .ways = 1};
    struct hierarchy_result result = simulate(&settings, "0R4 0R6 0W10:8 0W1a 0R20");
    CU_ASSERT_EQUAL(result.caches[0][0].misses[REFERENCE_READ], 3);
    CU_ASSERT_EQUAL(result.caches[0][0].line_misses[REFERENCE_READ], 2);
    CU_ASSERT_EQUAL(result.caches[0][0].misses[REFERENCE_WRITE], 2);
    CU_ASSERT_EQUAL(result.caches[0][0].line_misses[REFERENCE_WRITE], 0);
    CU_ASSERT_EQUAL(result.caches[0][0].fills, 4);
    CU_ASSERT_EQUAL(result.caches[0][0].fill_bytes, 40);
    CU_ASSERT_EQUAL(result.caches[0][0].write_backs, 1);
    CU_ASSERT_EQUAL(result.caches[0][0].write_back_bytes, 16);
}

/*
 * Dinero IV's order, seen by a level 2 of one line of 8 bytes. Level 1 is the line of above, with
 * sub-blocks 0 and 2 dirty: two runs. R20 fills first, then writes back 10 and 0. Level 2 then
 * holds 0 and R0's fill hits; with any other order it misses.
 */
static void test_write_back_order(void)
{
    struct hierarchy_settings settings = two_levels(2, 1);
    settings.levels[0].sides[0] =
        (struct cache_settings){.size = 32, .line = 32, .sub_block = 8, .ways = 1};
    settings.levels[1].sides[0] = (struct cache_settings){.size = 8, .line = 8, .ways = 1};
    struct hierarchy_result result = simulate(&settings, "0W0:8 0W10:8 0R20 0R0");
    CU_ASSERT_EQUAL(result.caches[0][0].write_backs, 2);
    CU_ASSERT_EQUAL(result.caches[1][0].references[REFERENCE_READ], 2);
    CU_ASSERT_EQUAL(result.caches[1][0].misses[REFERENCE_READ], 1);
    CU_ASSERT_EQUAL(result.caches[1][0].misses[REFERENCE_WRITE], 2);
    CU_ASSERT_EQUAL(result.all.memory_references[REFERENCE_WRITE], 2);
}

/* The final flush begins with the last set. Level 2 has one line, which holds 0: the write of 1
 * evicts it before 0 is written. In the other order, 0 would hit. */
static void test_flush_order(void)
{
    struct hierarchy_settings settings = two_levels(2, 1);
    settings.levels[0].sides[0].ways = 1;
    struct hierarchy_result result = simulate(&settings, "0W10 0W0");
    CU_ASSERT_EQUAL(result.caches[1][0].references[REFERENCE_WRITE], 2);
    CU_ASSERT_EQUAL(result.caches[1][0].misses[REFERENCE_WRITE], 2);
    CU_ASSERT_EQUAL(result.all.memory_references[REFERENCE_WRITE], 2);
    settings.no_flush = true;
    result = simulate(&settings, "0W10 0W0");
    CU_ASSERT_EQUAL(result.caches[1][0].references[REFERENCE_WRITE], 0);
}

/* Writes: a miss, then, after a read, a hit. */
static void test_write_policies(void)
{
    struct hierarchy_settings settings = one_level(4, 1);
    struct cache_settings *cache = &settings.levels[0].sides[0];
    struct hierarchy_result result = simulate(&settings, "0W0 0R0 0W0");
    CU_ASSERT_EQUAL(result.caches[0][0].fills, 1);
    CU_ASSERT_EQUAL(result.all.memory_bytes[REFERENCE_WRITE], 16); /* the line, at the end */
    cache->no_write_allocate = true;
    result = simulate(&settings, "0W0 0R0 0W0");
    CU_ASSERT_EQUAL(result.caches[0][0].misses[REFERENCE_READ], 1);
    CU_ASSERT_EQUAL(result.caches[0][0].write_throughs, 1);
    CU_ASSERT_EQUAL(result.all.memory_bytes[REFERENCE_WRITE], 4 + 16);
    cache->write_through = true;
    result = simulate(&settings, "0W0 0R0 0W0");
    CU_ASSERT_EQUAL(result.caches[0][0].write_throughs, 2);
    CU_ASSERT_EQUAL(result.all.memory_bytes[REFERENCE_WRITE], 4 + 4);
}

/* Direct-mapped, two lines. 0 2 0: the third would hit in a fully associative cache (conflict).
 * 0 1 2 0: the fourth would not (capacity). */
static void test_kinds(void)
{
    struct hierarchy_settings settings = one_level(2, 1);
    settings.classify = true;
    struct cache_counters got = simulate(&settings, "0R0 0R20 0R0").caches[0][0];
    CU_ASSERT_EQUAL(got.compulsory[REFERENCE_READ], 2);
    CU_ASSERT_EQUAL(got.conflict[REFERENCE_READ], 1);
    got = simulate(&settings, "0R0 0R10 0R20 0R0").caches[0][0];
    CU_ASSERT_EQUAL(got.compulsory[REFERENCE_READ], 3);
    CU_ASSERT_EQUAL(got.capacity[REFERENCE_READ], 1);
    CU_ASSERT_EQUAL(got.conflict[REFERENCE_READ], 0);
}

/*
 * Two lines above two. Reads of 0 hit in level 1, which level 2 does not see. R20 evicts 1 from
 * level 1 and 0 from level 2, which invalidates 0 in level 1 although it was used last.
 */
static void test_inclusive(void)
{
    struct hierarchy_settings settings = two_levels(2, 2);
    CU_ASSERT_EQUAL(read_misses(&settings, "0R0 0R10 0R0 0R0 0R20 0R0"), 3);
    settings.levels[1].inclusion = CACHE_INCLUSIVE;
    struct hierarchy_result result = simulate(&settings, "0R0 0R10 0R0 0R0 0R20 0R0");
    CU_ASSERT_EQUAL(result.caches[0][0].misses[REFERENCE_READ], 4);
    CU_ASSERT_EQUAL(result.caches[0][0].back_invalidations, 1);
    CU_ASSERT_EQUAL(result.caches[1][0].misses[REFERENCE_READ], 4);
    /* level 2 writes back the line that is dirty in level 1 */
    result = simulate(&settings, "0W0 0R10 0R0 0R0 0R20");
    CU_ASSERT_EQUAL(result.caches[0][0].write_backs, 0);
    CU_ASSERT_EQUAL(result.caches[1][0].write_backs, 1);
}

/* One line above two, which hold its evicted lines: 0 and 1 move down, 0 returns dirty. */
static void test_exclusive(void)
{
    struct hierarchy_settings settings = two_levels(1, 2);
    settings.levels[1].inclusion = CACHE_EXCLUSIVE;
    struct hierarchy_result result = simulate(&settings, "0W0 0R10 0R0");
    CU_ASSERT_EQUAL(result.caches[1][0].insertions, 2);
    CU_ASSERT_EQUAL(result.caches[1][0].references[REFERENCE_READ], 3);
    CU_ASSERT_EQUAL(result.caches[1][0].misses[REFERENCE_READ], 2);
    CU_ASSERT_EQUAL(result.caches[1][0].write_backs, 0);
    CU_ASSERT_EQUAL(result.caches[0][0].write_backs, 1); /* at the end */
    CU_ASSERT_EQUAL(result.all.memory_references[REFERENCE_READ], 2);
    CU_ASSERT_EQUAL(result.all.memory_references[REFERENCE_WRITE], 1);
    /* 1 + 2 lines hold three, which 2 lines would not */
    result = simulate(&settings, "0R0 0R10 0R20 0R0 0R10 0R20");
    CU_ASSERT_EQUAL(result.all.memory_references[REFERENCE_READ], 3);
}

static struct hierarchy_settings coherent(enum cache_coherence coherence)
{
    struct hierarchy_settings settings = one_level(4, 1);
    settings.coherence = coherence;
    settings.classify = true;
    return settings;
}

/* One processor: MSI upgrades a line to write it, MESI and MOESI hold it exclusively. */
static void test_exclusive_state(void)
{
    for (unsigned i = CACHE_MSI; i < CACHE_PROTOCOLS; i++) {
        struct hierarchy_settings settings = coherent((enum cache_coherence)i);
        struct hierarchy_result result = simulate(&settings, "0R0 0W0");
        CU_ASSERT_EQUAL(result.caches[0][0].upgrades, i == CACHE_MSI ? 1 : 0);
        CU_ASSERT_EQUAL(result.caches[0][0].write_backs, 1);
    }
}

/*
 *            MSI, MESI                                          MOESI
 *   0R0      0: S or E, from memory                             0: E
 *   1R0      both S, from memory                                the same
 *   0W0      0: upgrade, M; 1: invalidation                     the same
 *   1R0      0: intervention, written back, S; 1: S             0: intervention, O; 1: S
 *   1W0      1: upgrade, M; 0: invalidation                     the same, 0 passes on its dirty
 * line end      1 writes back                                      1 writes back
 */
static void test_protocols(void)
{
    for (unsigned i = CACHE_MSI; i <= CACHE_MOESI; i++) {
        struct hierarchy_settings settings = coherent((enum cache_coherence)i);
        struct hierarchy_result result = simulate(&settings, "0R0 1R0 0W0 1R0 1W0");
        const struct cache_counters *first = &result.caches[0][0];
        const struct cache_counters *second = &result.caches[0][1];
        uint64_t written = i == CACHE_MOESI ? 0 : 1;
        CU_ASSERT_EQUAL(first->upgrades, 1);
        CU_ASSERT_EQUAL(first->interventions, 1);
        CU_ASSERT_EQUAL(first->invalidations, 1);
        CU_ASSERT_EQUAL(first->snoop_write_backs, written);
        CU_ASSERT_EQUAL(first->write_backs, written);
        CU_ASSERT_EQUAL(first->fills, 1);
        CU_ASSERT_EQUAL(second->upgrades, 1);
        CU_ASSERT_EQUAL(second->interventions, 0);
        CU_ASSERT_EQUAL(second->invalidations, 1);
        CU_ASSERT_EQUAL(second->misses[REFERENCE_READ], 2);
        CU_ASSERT_EQUAL(second->fills, 1);
        CU_ASSERT_EQUAL(second->write_backs, 1);
        CU_ASSERT_EQUAL(second->true_sharing[REFERENCE_READ], 1);
        CU_ASSERT_EQUAL(result.all.memory_references[REFERENCE_READ], 2);
        CU_ASSERT_EQUAL(result.all.memory_references[REFERENCE_WRITE], 1 + written);
    }
}

/* Two processors write two words of one line in turns; then one reads the other's word. */
static void test_sharing(void)
{
    for (unsigned i = CACHE_MSI; i <= CACHE_MOESI; i++) {
        struct hierarchy_settings settings = coherent((enum cache_coherence)i);
        struct hierarchy_result result = simulate(&settings, "0W0 1W8 0W0 1W8 0R8");
        const struct cache_counters *first = &result.caches[0][0];
        const struct cache_counters *second = &result.caches[0][1];
        CU_ASSERT_EQUAL(first->compulsory[REFERENCE_WRITE], 1);
        CU_ASSERT_EQUAL(first->false_sharing[REFERENCE_WRITE], 1);
        CU_ASSERT_EQUAL(first->true_sharing[REFERENCE_READ], 1);
        CU_ASSERT_EQUAL(first->invalidations, 2);
        CU_ASSERT_EQUAL(first->interventions, 2);
        CU_ASSERT_EQUAL(second->compulsory[REFERENCE_WRITE], 1);
        CU_ASSERT_EQUAL(second->false_sharing[REFERENCE_WRITE], 1);
        CU_ASSERT_EQUAL(second->invalidations, 1);
        CU_ASSERT_EQUAL(second->interventions, 2);
        CU_ASSERT_EQUAL(first->upgrades + second->upgrades, 0);
        CU_ASSERT_EQUAL(result.all.memory_references[REFERENCE_READ], 1);
    }
}

/* Attributes: 0 bypasses the cache; 1 writes through; 2 writes through and invalidates. */
static void test_attributes(void)
{
    static const char trace[] = "0R0 0W0@0 0W0@1 0R0 0W0@2 0R0 0R10@0";
    struct hierarchy_settings settings = one_level(4, 1);
    struct hierarchy_result result = simulate(&settings, trace);
    CU_ASSERT_EQUAL(result.caches[0][0].references[REFERENCE_WRITE], 3);
    CU_ASSERT_EQUAL(result.caches[0][0].misses[REFERENCE_READ], 2);
    settings.honour_attributes = true;
    result = simulate(&settings, trace);
    CU_ASSERT_EQUAL(result.caches[0][0].references[REFERENCE_WRITE], 2);
    CU_ASSERT_EQUAL(result.caches[0][0].misses[REFERENCE_WRITE], 0);
    CU_ASSERT_EQUAL(result.caches[0][0].misses[REFERENCE_READ], 2);
    CU_ASSERT_EQUAL(result.caches[0][0].write_throughs, 2);
    CU_ASSERT_EQUAL(result.all.uncached[REFERENCE_WRITE], 1);
    CU_ASSERT_EQUAL(result.all.uncached[REFERENCE_READ], 1);
    CU_ASSERT_EQUAL(result.all.memory_references[REFERENCE_WRITE], 2);
}

/* Four ways, and a trace in which each policy evicts another line. */
static uint64_t policy_misses(enum cache_replacement policy, const char *trace)
{
    struct hierarchy_settings settings = one_level(4, 4);
    settings.levels[0].sides[0].replacement = policy;
    return read_misses(&settings, trace);
}

/* A B C D, then C: nru has marked all, so that E unmarks all first and takes A's way; then F takes
 * B's, and C stays. If A was used last instead, nru still evicts it, and LRU does not. */
static void test_nru(void)
{
    CU_ASSERT_EQUAL(policy_misses(CACHE_NRU, "0R0 0R10 0R20 0R30 0R20 0R40 0R50 0R20"), 6);
    CU_ASSERT_EQUAL(policy_misses(CACHE_NRU, "0R0 0R10 0R20 0R30 0R0 0R40 0R0"), 6);
    CU_ASSERT_EQUAL(policy_misses(CACHE_LRU, "0R0 0R10 0R20 0R30 0R0 0R40 0R0"), 5);
}

/* A is used, so that a scan of five other lines does not evict it; LRU loses it. */
static void test_scan(void)
{
    static const char scan[] = "0R0 0R0 0R10 0R20 0R30 0R40 0R50 0R0";
    CU_ASSERT_EQUAL(policy_misses(CACHE_LRU, scan), 7);
    CU_ASSERT_EQUAL(policy_misses(CACHE_SRRIP, scan), 6);
    CU_ASSERT_EQUAL(policy_misses(CACHE_DRRIP, scan), 6); /* one set: srrip */
    CU_ASSERT_EQUAL(policy_misses(CACHE_SHIP, scan), 6);
    CU_ASSERT_EQUAL(policy_misses(CACHE_LFU, scan), 6);
}

/* A cycle of five lines in four ways: LRU always misses; brrip keeps the lines of three
 * ways. */
static void test_cycle(void)
{
    static const char cycle[] =
        "0R0 0R10 0R20 0R30 0R40 0R0 0R10 0R20 0R30 0R40 0R0 0R10 0R20 0R30";
    CU_ASSERT_EQUAL(policy_misses(CACHE_LRU, cycle), 14);
    CU_ASSERT_EQUAL(policy_misses(CACHE_LFU, cycle), 14);
    CU_ASSERT(policy_misses(CACHE_BRRIP, cycle) < 14);
}

/* Three sets: lines 0, 1 and 2 of each round share none, lines 0 and 3 do. */
static void test_three_sets(void)
{
    struct hierarchy_settings settings = one_level(3, 1);
    CU_ASSERT_EQUAL(read_misses(&settings, "0R0 0R10 0R20 0R0 0R10 0R20"), 3);
    CU_ASSERT_EQUAL(read_misses(&settings, "0R0 0R30 0R0 0R30"), 4);
    /* 4 sets, hashed: line 4 = 100 in binary folds into 01, line 5 into 00 */
    settings = one_level(4, 1);
    settings.levels[0].sides[0].hash = CACHE_HASH_XOR;
    CU_ASSERT_EQUAL(read_misses(&settings, "0R0 0R40 0R0 0R40"), 2);
    CU_ASSERT_EQUAL(read_misses(&settings, "0R0 0R50 0R0 0R50"), 4);
}

/*
 *         MESI                                  MESIF
 *   0R0   0: E, from memory                     the same
 *   1R0   both S, from memory                   0 supplies, clean, S; 1: F
 *   2R0   S, from memory                        1 supplies, clean, S; 2: F
 *   0W0   0: upgrade, M; 1, 2: invalidation     the same
 *   1R0   0 supplies, written back, S; 1: S     the same, 1: F
 *   2W0   0, 1: invalidation; from memory       1 supplies, clean; 0, 1: invalidation
 */
static void test_forward(void)
{
    static const char trace[] = "0R0 1R0 2R0 0W0 1R0 2W0";
    struct hierarchy_settings settings = coherent(CACHE_MESI);
    struct hierarchy_result result = simulate(&settings, trace);
    CU_ASSERT_EQUAL(result.caches[0][0].interventions, 1);
    CU_ASSERT_EQUAL(result.caches[0][0].intervention_bytes, 16);
    CU_ASSERT_EQUAL(result.caches[0][0].clean_interventions, 0);
    CU_ASSERT_EQUAL(result.caches[0][1].interventions, 0);
    CU_ASSERT_EQUAL(result.all.memory_references[REFERENCE_READ], 4);
    settings.coherence = CACHE_MESIF;
    result = simulate(&settings, trace);
    CU_ASSERT_EQUAL(result.caches[0][0].interventions, 2);
    CU_ASSERT_EQUAL(result.caches[0][0].clean_interventions, 1);
    CU_ASSERT_EQUAL(result.caches[0][0].intervention_bytes, 16);
    CU_ASSERT_EQUAL(result.caches[0][0].clean_intervention_bytes, 16);
    CU_ASSERT_EQUAL(result.caches[0][0].upgrades, 1);
    CU_ASSERT_EQUAL(result.caches[0][0].invalidations, 1);
    CU_ASSERT_EQUAL(result.caches[0][1].interventions, 2);
    CU_ASSERT_EQUAL(result.caches[0][1].clean_intervention_bytes, 32);
    CU_ASSERT_EQUAL(result.caches[0][1].received, 2);
    CU_ASSERT_EQUAL(result.caches[0][1].invalidations, 2);
    CU_ASSERT_EQUAL(result.caches[0][2].received, 2);
    CU_ASSERT_EQUAL(result.all.memory_references[REFERENCE_READ], 1);
}

/* Processor 1 announces a write of a line that both have: it upgrades, and has the line dirty. */
static void test_readinv(void)
{
    struct hierarchy_settings settings = coherent(CACHE_MESI);
    struct hierarchy_result result = simulate(&settings, "0R0 1R0 1O0 0R0");
    CU_ASSERT_EQUAL(result.caches[0][1].upgrades, 1);
    CU_ASSERT_EQUAL(result.caches[0][0].invalidations, 1);
    CU_ASSERT_EQUAL(result.caches[0][1].interventions, 1);
    CU_ASSERT_EQUAL(result.caches[0][1].snoop_write_backs, 1);
    CU_ASSERT_EQUAL(result.caches[0][0].true_sharing[REFERENCE_READ], 1);
    CU_ASSERT_EQUAL(result.caches[0][1].references[REFERENCE_READ], 2);
    CU_ASSERT_EQUAL(result.caches[0][1].references[REFERENCE_WRITE], 0);
    settings.plain_readinv = true;
    result = simulate(&settings, "0R0 1R0 1O0 0R0");
    CU_ASSERT_EQUAL(result.caches[0][1].upgrades + result.caches[0][0].invalidations, 0);
    CU_ASSERT_EQUAL(result.caches[0][1].interventions, 0);
}

/* Two agents of one processor: neither sharers nor suppliers, but fetches get what was written. */
static void test_sides(void)
{
    struct hierarchy_settings settings = coherent(CACHE_MESI);
    settings.levels[0].split = true;
    settings.levels[0].sides[1] = settings.levels[0].sides[0];
    struct hierarchy_result result = simulate(&settings, "0F0 0R0 0W0 0F0 0W0");
    CU_ASSERT_EQUAL(result.caches[0][0].references[REFERENCE_FETCH], 2);
    CU_ASSERT_EQUAL(result.caches[0][0].misses[REFERENCE_FETCH], 2);
    CU_ASSERT_EQUAL(result.caches[0][0].invalidations, 0);
    CU_ASSERT_EQUAL(result.caches[0][0].conflict[REFERENCE_FETCH], 1);
    /* the first write is written back for the fetch, the second one at the end */
    CU_ASSERT_EQUAL(result.all.memory_references[REFERENCE_WRITE], 2);
    CU_ASSERT_EQUAL(result.all.memory_references[REFERENCE_FETCH], 2);
    CU_ASSERT_EQUAL(result.all.memory_references[REFERENCE_READ], 1);
    /* another processor invalidates both */
    result = simulate(&settings, "0F0 0R0 1W0");
    CU_ASSERT_EQUAL(result.caches[0][0].invalidations, 1);
}

/* A write of the whole line of another agent: only an invalidation. A part of it needs the data. */
static void test_whole_line(void)
{
    struct hierarchy_settings settings = coherent(CACHE_MESI);
    struct hierarchy_result result = simulate(&settings, "0W0 1W0:16");
    CU_ASSERT_EQUAL(result.caches[0][0].invalidations, 1);
    CU_ASSERT_EQUAL(result.caches[0][0].interventions, 0);
    CU_ASSERT_EQUAL(result.caches[0][1].received + result.caches[0][1].fills, 0);
    CU_ASSERT_EQUAL(result.all.memory_references[REFERENCE_WRITE], 1);
    result = simulate(&settings, "0W0 1W0:8");
    CU_ASSERT_EQUAL(result.caches[0][0].interventions, 1);
    CU_ASSERT_EQUAL(result.caches[0][1].received, 1);
}

/* Attribute 0 (uncacheable): a read has a dirty copy elsewhere written back, a write invalidates it
 * as well. Attribute 4 (write combining) does neither. */
static void test_uncacheable(void)
{
    struct hierarchy_settings settings = coherent(CACHE_MESI);
    settings.honour_attributes = true;
    struct hierarchy_result result = simulate(&settings, "0W0 1R0@0 0R0");
    CU_ASSERT_EQUAL(result.caches[0][0].snoop_write_backs, 1);
    CU_ASSERT_EQUAL(result.caches[0][0].invalidations, 0);
    CU_ASSERT_EQUAL(result.caches[0][0].misses[REFERENCE_READ], 0);
    CU_ASSERT_EQUAL(result.all.uncached[REFERENCE_READ], 1);
    result = simulate(&settings, "0W0 1W0@0 0R0");
    CU_ASSERT_EQUAL(result.caches[0][0].snoop_write_backs, 1);
    CU_ASSERT_EQUAL(result.caches[0][0].invalidations, 1);
    CU_ASSERT_EQUAL(result.caches[0][0].misses[REFERENCE_READ], 1);
    result = simulate(&settings, "0W0 1W0@4 0R0");
    CU_ASSERT_EQUAL(result.caches[0][0].snoop_write_backs, 0);
    CU_ASSERT_EQUAL(result.caches[0][0].invalidations, 0);
    CU_ASSERT_EQUAL(result.all.uncached[REFERENCE_WRITE], 1);
    CU_ASSERT_EQUAL(result.all.write_combining[REFERENCE_WRITE], 1);
}

/* Automatic coherence begins with processor 1, which finds the line that processor 0 wrote before.
 */
static void test_automatic(void)
{
    struct hierarchy_settings settings = coherent(CACHE_INCOHERENT);
    settings.automatic_coherence = true;
    struct hierarchy_result result = simulate(&settings, "0W0 0R10 1R0 1W10");
    CU_ASSERT_EQUAL(result.caches[0][0].interventions, 1);
    CU_ASSERT_EQUAL(result.caches[0][0].snoop_write_backs, 1);
    CU_ASSERT_EQUAL(result.caches[0][0].invalidations, 1);
    struct hierarchy *hierarchy = NULL;
    struct record records[RECORDS_MAX];
    struct bt_error error;
    CU_ASSERT_EQUAL_FATAL(hierarchy_new(&hierarchy, &settings, &error), 0);
    CU_ASSERT_EQUAL(hierarchy_put(hierarchy, records, parse("0W0 0R10", records), &error), 0);
    CU_ASSERT_EQUAL(hierarchy_coherence(hierarchy), CACHE_INCOHERENT);
    CU_ASSERT_EQUAL(hierarchy_put(hierarchy, records, parse("1R0", records), &error), 0);
    CU_ASSERT_EQUAL(hierarchy_coherence(hierarchy), CACHE_MESI);
    hierarchy_free(hierarchy);
    settings.levels[0].sides[0].victim_lines = 1; /* not possible with coherence */
    CU_ASSERT_EQUAL(hierarchy_check(&settings, &error), BT_USAGE);
}

/* Belady's pages again: his optimum misses 7 and 6 times. A line that a write does not allocate
 * need not be kept. */
static void test_optimum(void)
{
    static const char trace[] = "0R10 0R20 0R30 0R40 0R10 0R20 0R50 0R10 0R20 0R30 0R40 0R50";
    for (uint64_t lines = 3; lines <= 4; lines++) {
        struct hierarchy_settings settings = one_level(lines, 0);
        settings.optimum = true;
        struct hierarchy_result result = simulate(&settings, trace);
        CU_ASSERT_EQUAL(result.caches[0][0].optimum_misses[REFERENCE_READ], 10 - lines);
    }
    struct hierarchy_settings settings = one_level(1, 1);
    settings.optimum = true;
    CU_ASSERT_EQUAL(simulate(&settings, "0R0 0R10 0R0").caches[0][0].optimum_misses[REFERENCE_READ],
                    3);
    settings.levels[0].sides[0].no_write_allocate = true;
    CU_ASSERT_EQUAL(simulate(&settings, "0R0 0R10 0R0").caches[0][0].optimum_misses[REFERENCE_READ],
                    2);
}

/* An exclusive level of one line keeps what the level above evicts. Lines 0, 1, 2, then 0: the
 * optimum declines line 1 and still has line 0. A line that moves up is lost, also if it was read
 * from memory: the second processor's read misses like the first one's. */
static void test_exclusive_optimum(void)
{
    struct hierarchy_settings settings = two_levels(1, 1);
    settings.levels[1].inclusion = CACHE_EXCLUSIVE;
    settings.optimum = true;
    struct hierarchy_result result = simulate(&settings, "0R0 0R10 0R20 0R0");
    CU_ASSERT_EQUAL(result.caches[1][0].misses[REFERENCE_READ], 4);
    CU_ASSERT_EQUAL(result.caches[1][0].optimum_misses[REFERENCE_READ], 3);
    settings = two_levels(1, 4);
    settings.levels[1].inclusion = CACHE_EXCLUSIVE;
    settings.optimum = true;
    result = simulate(&settings, "0R0 1R0");
    CU_ASSERT_EQUAL(result.caches[1][0].misses[REFERENCE_READ], 2);
    CU_ASSERT_EQUAL(result.caches[1][0].optimum_misses[REFERENCE_READ], 2);
    /* the first processor's line 0 is inserted, and moves up to the second one; the latter's own
     * is inserted later: the reads of line 0 that hit end with it */
    result = simulate(&settings, "0R0 0R10 1R0 0R0");
    CU_ASSERT_EQUAL(result.caches[1][0].optimum_misses[REFERENCE_READ], 3);
}

/* The last line of a stream is that of its latest fresh reference, whatever was prefetched and
 * however far it went before; a reference to that line again changes nothing but its use. */
static void test_stream(void)
{
    struct hierarchy_settings settings = one_level(1, 1);
    settings.levels[0].sides[0].prefetcher = CACHE_STREAM;
    settings.levels[0].sides[0].prefetch_degree = settings.levels[0].sides[0].prefetch_distance = 1;
    static const struct {
        const char *trace;
        uint64_t prefetches;
    } examples[] = {{"0Ra0 0Rb0", 0},
                    {"0Ra0 0Rb0 0Rc0", 1},
                    {"0Ra0 0Rb0 0Rd0", 1},
                    {"0Ra0 0Re0 0Rc0 0Rd0", 0}, /* down, then up again: each the first */
                    {"0Ra0 0Re0 0Rc0 0Rd0 0Re0", 1},
                    {"0Ra0 0Rb0 0R500 0Rb0 0Rc0", 1},
                    {"0Ra0 0Rb0 0R1c0", 0},  /* 17 lines from the last one: a stream of its own */
                    {"0Ra0 0Rb0 0R1b0", 1}}; /* 16 lines */
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct hierarchy_result result = simulate(&settings, examples[i].trace);
        CU_ASSERT_EQUAL(result.caches[0][0].prefetches[REFERENCE_READ], examples[i].prefetches);
    }
}

static const struct test_case cases[] = {
    {"the optimum", test_optimum},
    {"the optimum of an exclusive level", test_exclusive_optimum},
    {"streams", test_stream},

    {"not recently used", test_nru},
    {"a scan", test_scan},
    {"a cycle", test_cycle},
    {"three sets, hashed sets", test_three_sets},

    {"Belady: FIFO misses more in a larger cache", test_belady},
    {"tree-PLRU is not LRU", test_tree},
    {"a reference across 2^32", test_wrap},
    {"a victim buffer between two lines of one set", test_victims},
    {"prefetches", test_prefetch},
    {"sub-blocks", test_sub_blocks},
    {"order of write-backs as in Dinero IV", test_write_back_order},
    {"order of the final flush as in Dinero IV", test_flush_order},
    {"write policies", test_write_policies},
    {"compulsory, capacity, conflict", test_kinds},
    {"inclusive", test_inclusive},
    {"exclusive", test_exclusive},
    {"MSI upgrades, MESI and MOESI do not", test_exclusive_state},
    {"a line that two processors share", test_protocols},
    {"true and false sharing", test_sharing},
    {"cacheability", test_attributes},
    {"MESIF: clean lines come from caches", test_forward},
    {"MEMREADINV takes ownership", test_readinv},
    {"the two caches of a processor are not sharers", test_sides},
    {"a write of a whole line needs no data", test_whole_line},
    {"uncacheable is not write combining", test_uncacheable},
    {"coherence begins with the second processor", test_automatic},
    {NULL, NULL}};
TEST_SUITE(hierarchy_examples, cases)
