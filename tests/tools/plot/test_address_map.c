#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/plot/address_layout.h"
#include "tools/plot/address_map.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS_MAX 6000u
#define BINS        4u

/* Random addresses: in a few regions, as programs use them, or anywhere. */
static uint32_t any_address(uint64_t *random, const uint32_t regions[4], uint32_t size)
{
    if (size == 0)
        return random_next32(random);
    return regions[random_below(random, 4)] + (uint32_t)random_below(random, size);
}

static void make_records(struct record *records, size_t count, uint64_t *random)
{
    static const uint32_t sizes[] = {0, 16, 4096, 1u << 20, 1u << 28};
    static const uint8_t types[] = {REQUEST_FETCH, REQUEST_MEMREAD, REQUEST_MEMWRITE,
                                    REQUEST_IOREAD};
    uint32_t size = sizes[random_below(random, 5)];
    uint32_t regions[4];
    for (int i = 0; i < 4; i++)
        regions[i] = random_one_in(random, 4) ? UINT32_MAX - 64 : random_next32(random);
    for (size_t i = 0; i < count; i++)
        records[i] = (struct record){.address = any_address(random, regions, size),
                                     .type = types[random_below(random, 4)],
                                     .time = (uint32_t)random_below(random, 10)};
}

/* The number of distinct rows of 2^shift bytes that the records touch. */
static size_t rows_in_use(const struct record *records, size_t count, unsigned shift)
{
    static uint8_t used[(1u << 28) / 8];
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t row = records[i].address >> shift;
        bool counts = records[i].type != REQUEST_IOREAD && !(used[row / 8] >> row % 8 & 1);
        found += counts;
        if (counts)
            used[row / 8] |= (uint8_t)(1u << row % 8);
    }
    for (size_t i = 0; i < count; i++)
        used[(records[i].address >> shift) / 8] = 0;
    return found;
}

static void compare(struct address_map *map, const struct record *records, size_t count)
{
    const struct time_bins *time = address_map_time(map);
    unsigned shift = address_map_shift(map);
    size_t row_count;
    const struct address_map_row *rows = address_map_rows(map, &row_count);
    unsigned wanted = ADDRESS_MAP_SHIFT_MIN;
    while (rows_in_use(records, count, wanted) > ADDRESS_MAP_ROWS_MAX)
        wanted++;
    CU_ASSERT_EQUAL_FATAL(shift, wanted);
    CU_ASSERT_EQUAL_FATAL(row_count, rows_in_use(records, count, shift));
    uint64_t *left = calloc(row_count * BINS + 1, sizeof *left);
    CU_ASSERT_PTR_NOT_NULL_FATAL(left);
    for (size_t i = 0; i < row_count; i++) {
        CU_ASSERT_FATAL(i == 0 || rows[i].number > rows[i - 1].number);
        memcpy(left + i * BINS, rows[i].counts, BINS * sizeof *left);
    }
    uint64_t tick = 0;
    for (size_t i = 0; i < count; i++) {
        tick += i > 0 ? records[i].time : 0;
        if (records[i].type == REQUEST_IOREAD)
            continue;
        size_t row = 0;
        size_t high = row_count - 1;
        while (row < high) {
            size_t middle = (row + high) / 2;
            if (rows[middle].number < records[i].address >> shift)
                row = middle + 1;
            else
                high = middle;
        }
        CU_ASSERT_EQUAL_FATAL(rows[row].number, records[i].address >> shift);
        CU_ASSERT_FATAL(left[row * BINS + time_bins_at(time, tick)]-- > 0);
    }
    for (size_t i = 0; i < row_count * BINS; i++)
        CU_ASSERT_EQUAL_FATAL(left[i], 0);
    free(left);
}

/* All rows are on the axis, in order, none on a break. */
static void check_layout(struct address_map *map, size_t most)
{
    struct address_layout layout;
    size_t count;
    unsigned shift = address_map_shift(map);
    const struct address_map_row *rows = address_map_rows(map, &count);
    CU_ASSERT_EQUAL_FATAL(
        address_layout_make(&layout, rows, count, shift, most, false, 0, UINT32_MAX, NULL), 0);
    CU_ASSERT_FATAL(layout.length >= 1 && layout.length <= most);
    size_t before = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t address = rows[i].number << shift;
        size_t position = address_layout_position(&layout, address);
        CU_ASSERT_FATAL(position + layout.scale <= layout.length && position >= before);
        before = position;
        bool inside = false;
        for (size_t b = 0; b < layout.band_count; b++)
            inside |= address >> layout.shift >= layout.bands[b].first &&
                      address >> layout.shift <= layout.bands[b].last;
        CU_ASSERT_FATAL(inside);
    }
    struct figure_tick ticks[ADDRESS_LAYOUT_TICKS];
    char labels[ADDRESS_LAYOUT_TICKS][ADDRESS_LAYOUT_LABEL];
    size_t made = address_layout_ticks(&layout, 5, ticks, labels);
    CU_ASSERT(made > 0);
    for (size_t i = 0; i < made; i++)
        for (size_t j = 0; j < i; j++)
            CU_ASSERT_FATAL(ticks[i].at - ticks[j].at >= 5 || ticks[j].at - ticks[i].at >= 5);
    address_layout_free(&layout);
}

static void test_against_twin(void)
{
    static struct record records[RECORDS_MAX];
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t random = random_seed(seed);
        const struct address_map_settings settings = {.bins = BINS, .to = UINT32_MAX};
        size_t count = 1 + (size_t)random_below(&random, RECORDS_MAX);
        struct batch batch = {.records = records, .count = count};
        make_records(records, count, &random);
        struct address_map *map = address_map_new(&settings, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(map);
        CU_ASSERT_EQUAL_FATAL(address_map_put(map, &batch, NULL, NULL), 0);
        if (address_map_totals(map)->requests > 0)
            compare(map, records, count);
        check_layout(map, 8 + (size_t)random_below(&random, 300));
        address_map_free(map);
    }
}

static void test_range(void)
{
    struct record records[] = {{.address = 0xfff},
                               {.address = 0x1000},
                               {.address = 0x1fff},
                               {.address = 0x2000},
                               {.type = REQUEST_IOREAD}};
    const struct address_map_settings settings = {.bins = BINS, .from = 0x1000, .to = 0x1fff};
    const struct batch batch = {.records = records, .count = 5};
    struct address_map *map = address_map_new(&settings, NULL);
    size_t count;
    CU_ASSERT_PTR_NOT_NULL_FATAL(map);
    CU_ASSERT_EQUAL(address_map_put(map, &batch, NULL, NULL), 0);
    CU_ASSERT_EQUAL(address_map_totals(map)->requests, 2);
    CU_ASSERT_EQUAL(address_map_totals(map)->outside, 2);
    CU_ASSERT_EQUAL(address_map_totals(map)->dropped, 1);
    CU_ASSERT_PTR_NOT_NULL(address_map_rows(map, &count));
    CU_ASSERT_EQUAL(count, 2);
    address_map_free(map);
}

/* Both ends of the address space: two rows with a break between them. */
static void test_both_ends(void)
{
    const struct address_map_row rows[] = {{0, NULL}, {UINT32_MAX >> 4, NULL}};
    struct address_layout layout;
    CU_ASSERT_EQUAL_FATAL(address_layout_make(&layout, rows, 2, 4, 200, false, 0, UINT32_MAX, NULL),
                          0);
    CU_ASSERT_EQUAL(layout.band_count, 2);
    CU_ASSERT_EQUAL(layout.shift, 4);
    CU_ASSERT(layout.length <= 200 && layout.length > 190);
    address_layout_free(&layout);
    CU_ASSERT_EQUAL_FATAL(address_layout_make(&layout, rows, 2, 4, 200, true, 0, UINT32_MAX, NULL),
                          0);
    CU_ASSERT_EQUAL(layout.band_count, 1);
    CU_ASSERT_EQUAL(layout.shift, 25);
    CU_ASSERT_EQUAL(layout.length, 128);
    CU_ASSERT_EQUAL(address_layout_position(&layout, UINT32_MAX), 127);
    address_layout_free(&layout);
}

static const struct test_case cases[] = {{"against a slow twin", test_against_twin},
                                         {"a range of addresses", test_range},
                                         {"both ends of memory", test_both_ends},
                                         {NULL, NULL}};
TEST_SUITE(address_map, cases)
