/* TLBs against a slow simulator of doc/cache-model.md, "Translation". */
#include "formats/record/reference.h"
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/cache/study/tlb.h"

#include <string.h>

#define RECORDS    3000u
#define PROCESSORS 2u
#define ENTRIES    64u

/* One buffer for one page size: pages with the time of their last use, of any set. */
struct slow_array {
    uint32_t pages[ENTRIES];
    uint64_t used[ENTRIES];
    unsigned count;
};

struct slow_tlb {
    const struct tlb_settings *settings;
    struct slow_array arrays[PROCESSORS][TLB_BUFFERS][TLB_PAGES];
    struct tlb_counters counters[TLB_BUFFERS][TLB_PAGES];
    uint64_t now;
};

/* Looks a page up, and makes it the newest of its set. */
static bool slow_look_up(struct slow_tlb *tlb, unsigned processor, unsigned buffer, unsigned pages,
                         uint32_t page)
{
    const struct tlb_array *shape = &tlb->settings->arrays[buffer][pages];
    struct slow_array *array = &tlb->arrays[processor][buffer][pages];
    const uint32_t ways = shape->ways ? shape->ways : shape->entries;
    const uint32_t sets = shape->entries / ways;
    unsigned oldest = ENTRIES, members = 0;
    for (unsigned i = 0; i < array->count; i++) {
        if (array->pages[i] == page) {
            array->used[i] = ++tlb->now;
            return true;
        }
        if (array->pages[i] % sets != page % sets)
            continue;
        members++;
        if (oldest == ENTRIES || array->used[i] < array->used[oldest])
            oldest = i;
    }
    const unsigned at = members < ways ? array->count++ : oldest;
    array->pages[at] = page;
    array->used[at] = ++tlb->now;
    return false;
}

static unsigned slow_pages(const struct tlb_settings *settings, uint32_t address)
{
    for (unsigned i = 0; i < settings->range_count; i++)
        if (address >= settings->ranges[i].low && address <= settings->ranges[i].high)
            return settings->ranges[i].pages;
    return settings->pages;
}

static void slow_translate(struct slow_tlb *tlb, const struct record *record)
{
    static const unsigned shift[TLB_PAGES] = {12, 21, 30};
    const unsigned pages = slow_pages(tlb->settings, record->address);
    const unsigned first = record->type == REQUEST_FETCH ? TLB_INSTRUCTION : TLB_DATA;
    const uint32_t last = (record->address + reference_bytes(record) - 1) >> shift[pages];
    for (uint32_t page = record->address >> shift[pages];; page = last) {
        tlb->counters[first][pages].references++;
        if (!slow_look_up(tlb, record->processor, first, pages, page)) {
            tlb->counters[first][pages].misses++;
            tlb->counters[TLB_SECOND][pages].references++;
            if (!slow_look_up(tlb, record->processor, TLB_SECOND, pages, page))
                tlb->counters[TLB_SECOND][pages].misses++;
        }
        if (page == last)
            return;
    }
}

static struct tlb_settings random_settings(uint64_t *random)
{
    struct tlb_settings settings = tlb_settings_default();
    for (unsigned buffer = 0; buffer < TLB_BUFFERS; buffer++)
        for (unsigned pages = 0; pages < TLB_PAGES; pages++) {
            const uint32_t ways = 1 + (uint32_t)random_below(random, 3);
            settings.arrays[buffer][pages] =
                (struct tlb_array){ways << random_below(random, 4), ways};
            if (random_one_in(random, 4))
                settings.arrays[buffer][pages].ways = 0;
        }
    settings.pages = (enum tlb_pages)random_below(random, TLB_PAGES);
    while (settings.range_count < random_below(random, 4)) {
        const uint32_t low = random_next32(random);
        settings.ranges[settings.range_count++] =
            (struct tlb_range){low, low + (random_next32(random) & 0x7fffffff & ~low),
                               (enum tlb_pages)random_below(random, TLB_PAGES)};
    }
    return settings;
}

static void fill(struct record *records, uint64_t *random)
{
    static const uint8_t types[] = {REQUEST_FETCH, REQUEST_MEMREAD, REQUEST_MEMWRITE,
                                    REQUEST_MEMREADINV, REQUEST_IOREAD};
    const uint32_t base = random_next32(random);
    for (unsigned i = 0; i < RECORDS; i++)
        records[i] = (struct record){
            .address = random_one_in(random, 3) ? random_next32(random)
                                                : base + (uint32_t)random_below(random, 40) * 4096 +
                                                      4095 * (uint32_t)random_below(random, 2),
            .type = types[random_below(random, sizeof types)],
            .size = (uint8_t)(1u << random_below(random, 4)),
            .processor = (uint8_t)random_below(random, PROCESSORS)};
}

static void test_twin(void)
{
    static struct record records[RECORDS];
    static struct slow_tlb slow;
    for (uint64_t seed = 0; seed < 60; seed++) {
        uint64_t random = random_seed(seed);
        const struct tlb_settings settings = random_settings(&random);
        const struct extent warm = {seed % 2 ? EXTENT_REQUESTS : EXTENT_NONE,
                                    1 + random_below(&random, RECORDS - 1)};
        const struct batch batch = {.records = records, .count = RECORDS};
        struct bt_error error;
        struct tlb *tlb;
        fill(records, &random);
        memset(&slow, 0, sizeof slow);
        slow.settings = &settings;
        for (unsigned i = 0; i < RECORDS; i++) {
            if (warm.unit == EXTENT_REQUESTS && i == warm.length)
                memset(slow.counters, 0, sizeof slow.counters);
            if (reference_kind_of(records[i].type) != REFERENCE_NONE)
                slow_translate(&slow, &records[i]);
        }
        CU_ASSERT_EQUAL_FATAL(tlb_new(&tlb, &settings, &error), 0);
        tlb_warm(tlb, &warm);
        CU_ASSERT_EQUAL(sink_put(tlb_sink(tlb), &batch, &error), 0);
        for (unsigned buffer = 0; buffer < TLB_BUFFERS; buffer++)
            for (unsigned pages = 0; pages < TLB_PAGES; pages++) {
                const struct tlb_counters counters =
                    tlb_counters_of(tlb, (enum tlb_buffer)buffer, (enum tlb_pages)pages);
                CU_ASSERT_EQUAL(counters.references, slow.counters[buffer][pages].references);
                CU_ASSERT_EQUAL(counters.misses, slow.counters[buffer][pages].misses);
            }
        tlb_free(tlb);
    }
}

static const struct test_case cases[] = {{"a slow TLB", test_twin}, {NULL, NULL}};
TEST_SUITE(cache_tlb, cases)
