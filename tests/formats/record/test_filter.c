#include "formats/record/filter.h"

#include "formats/record/expression.h"
#include "tests/suites.h"
#include "tests/support/filter_clauses.h"
#include "tests/support/random.h"

#include <stdio.h>

static struct filter parse(const char *text)
{
    struct filter filter = {0};
    struct bt_error error = {0};
    struct expression *expression = NULL;
    bool whole = false;
    int result = expression_parse(&expression, text, NULL, &error);
    if (result != 0)
        printf("%s: %s\n", text, error.message);
    CU_ASSERT_EQUAL_FATAL(result, 0);
    CU_ASSERT_EQUAL(expression_board_part(expression, &filter, &whole), 0);
    CU_ASSERT_TRUE(whole);
    expression_free(expression);
    return filter;
}

static bool passes(const char *text, uint8_t type, uint8_t processor, uint32_t address)
{
    struct filter filter = parse(text);
    const struct record record = {.type = type, .processor = processor, .address = address};
    return filter_match(&filter, &record);
}

static void test_clauses(void)
{
    CU_ASSERT_EQUAL(filter_clauses_wrong(passes), 0);
}

/* Compares filter_match with the obvious rules, for every type, processor and some addresses. */
static void test_match_against_twin(void)
{
    for (unsigned seed = 0; seed < 5000; seed++) {
        uint64_t random = random_seed(seed);
        struct filter filter = {.types = random_next32(&random) & 0x1ffff,
                                .processors = (uint8_t)random_next32(&random),
                                .range_count = (uint8_t)random_below(&random, FILTER_RANGES + 1),
                                .outside = random_next32(&random) & 1};
        if (random_one_in(&random, 4))
            filter.types = 0x1ffff;
        if (random_one_in(&random, 4))
            filter.processors = 0xff;
        for (unsigned i = 0; i < filter.range_count; i++) {
            filter.ranges[i].low = random_below(&random, 64);
            filter.ranges[i].high = filter.ranges[i].low + random_below(&random, 8);
        }
        struct record record = {.type = (uint8_t)random_below(&random, 0x40),
                                .processor = (uint8_t)random_below(&random, 10),
                                .address = random_below(&random, 72)};
        bool type = filter.types == 0x1ffff;
        for (unsigned i = 0; i < REQUEST_TYPES; i++)
            if (request_type_at(i) == record.type)
                type = (filter.types & 1u << i) != 0;
        bool processor = filter.processors == 0xff ||
                         (record.processor < 8 && (filter.processors & 1u << record.processor));
        bool inside = false;
        for (unsigned i = 0; i < filter.range_count; i++)
            inside = inside || (filter.ranges[i].low <= record.address &&
                                record.address <= filter.ranges[i].high);
        bool address = filter.range_count == 0 || inside != filter.outside;
        CU_ASSERT_EQUAL(filter_match(&filter, &record), type && processor && address);
    }
}

static const struct test_case cases[] = {
    {"clauses", test_clauses}, {"match against a twin", test_match_against_twin}, {NULL, NULL}};
TEST_SUITE(filter, cases)
