#include "formats/record/expression.h"

#include "formats/record/filter_words.h"
#include "tests/suites.h"
#include "tests/support/expression_twin.h"
#include "tests/support/filter_clauses.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

static struct expression *parse(const char *text)
{
    struct expression *expression = NULL;
    struct bt_error error = {0};
    int result = expression_parse(&expression, text, &expression_twin_symbols, &error);
    if (result != 0)
        printf("%s: %s\n", text, error.message);
    CU_ASSERT_EQUAL_FATAL(result, 0);
    return expression;
}

static bool passes(const char *text, uint8_t type, uint8_t processor, uint32_t address)
{
    struct expression *expression = parse(text);
    const struct record record = {.type = type, .processor = processor, .address = address};
    bool matches = expression_match(expression, &record, 0, 0);
    expression_free(expression);
    return matches;
}

static void test_everything(void)
{
    struct expression *expression = parse(" ");
    CU_ASSERT_TRUE(expression_is_all(expression));
    expression_free(expression);
    expression = parse("address=0-0xffffffff or type=FETCH");
    CU_ASSERT_FALSE(expression_is_all(expression));
    expression_free(expression);
    expression = parse("address=0-0x7fffffff or address>=0x80000000");
    CU_ASSERT_TRUE(expression_is_all(expression));
    expression_free(expression);
}

/* Expressions of the language that boards have always had. */
static void test_clauses(void)
{
    CU_ASSERT_EQUAL(filter_clauses_wrong(passes), 0);
}

static void test_connectives(void)
{
    /* "and" binds stronger than "or", "not" stronger than both */
    CU_ASSERT_TRUE(passes("type=HALT or proc=1 and address=5", REQUEST_HALT, 0, 0));
    CU_ASSERT_FALSE(passes("(type=HALT or proc=1) and address=5", REQUEST_HALT, 0, 0));
    CU_ASSERT_TRUE(passes("not type=HALT or proc=1", REQUEST_HALT, 1, 0));
    CU_ASSERT_FALSE(passes("not (type=HALT or proc=1)", REQUEST_HALT, 1, 0));
    CU_ASSERT_TRUE(passes("!!proc=1||proc=2", 0, 2, 0));
}

static void test_addresses(void)
{
    CU_ASSERT_TRUE(passes("address&0xfff=0x40", 0, 0, 0x7040));
    CU_ASSERT_FALSE(passes("address & 0xfff != 0x40", 0, 0, 0x7040));
    CU_ASSERT_TRUE(passes("address=0x1000+4K", 0, 0, 0x1fff));
    CU_ASSERT_FALSE(passes("address=0x1000+4K", 0, 0, 0x2000));
    CU_ASSERT_TRUE(passes("address=0xffffff00+256", 0, 0, 0xffffffff));
    CU_ASSERT_TRUE(passes("address=0+0x100000000", 0, 0, 0xffffffff));
    CU_ASSERT_FALSE(passes("address<0x1000", 0, 0, 0x1000));
    CU_ASSERT_TRUE(passes("address<=0x1000", 0, 0, 0x1000));
    CU_ASSERT_FALSE(passes("address>0xffffffff", 0, 0, 0xffffffff));
    CU_ASSERT_TRUE(passes("symbol=low|high", 0, 0, 0xffffffff));
    CU_ASSERT_TRUE(passes("symbol='low'", 0, 0, 0x185));
    CU_ASSERT_FALSE(passes("symbol=none", 0, 0, 0x185));
}

/* --- places in a trace ----------------------------------------------------------------------- */

static bool passes_at(const char *text, uint64_t clock_hz, uint64_t index, uint64_t tick)
{
    struct expression *expression = parse(text);
    const struct record record = {.time = 0};
    CU_ASSERT_EQUAL(expression_clock(expression, clock_hz, NULL), 0);
    bool matches = expression_match(expression, &record, index, tick);
    expression_free(expression);
    return matches;
}

static void test_places(void)
{
    CU_ASSERT_TRUE(passes_at("index=5k-6k", 0, 6000, 0));
    CU_ASSERT_FALSE(passes_at("index=5k-6k", 0, 6001, 0));
    CU_ASSERT_TRUE(passes_at("index&1=1", 0, 6001, 0));
    CU_ASSERT_TRUE(passes_at("time=10..20ticks", 0, 0, 10));
    CU_ASSERT_TRUE(passes_at("time=10ticks-20ticks", 0, 0, 20));
    CU_ASSERT_FALSE(passes_at("time=10-20ticks", 0, 0, 21));
    CU_ASSERT_TRUE(passes_at("time=100-0x100ticks", 0, 0, 256));
    CU_ASSERT_FALSE(passes_at("time=100-0x100ticks", 0, 0, 99));
    CU_ASSERT_FALSE(passes_at("time=0xC8..0X100ticks", 0, 0, 199));
    CU_ASSERT_TRUE(passes_at("time=0xc8-0x100ticks", 0, 0, 200));
    CU_ASSERT_TRUE(passes_at("time=0x10ticks", 0, 0, 16));
    CU_ASSERT_FALSE(passes_at("time>=0x1Mticks", 0, 0, 999999));
    CU_ASSERT_TRUE(passes_at("time=2-3Mticks", 0, 0, 2000000));
    CU_ASSERT_FALSE(passes_at("time=2-3Mticks", 0, 0, 1999999));
    CU_ASSERT_TRUE(passes_at("time=1.5-2s", 1000, 0, 1500));
    CU_ASSERT_FALSE(passes_at("time=1.5-2s", 1000, 0, 1499));
    CU_ASSERT_TRUE(passes_at("time=1500ms..2s", 1000, 0, 2000));
    CU_ASSERT_FALSE(passes_at("time<2s", 1000, 0, 2000));
    CU_ASSERT_TRUE(passes_at("time<2000001us", 1000, 0, 2000));
    CU_ASSERT_TRUE(passes_at("time=2000999us", 1000, 0, 2000));
    CU_ASSERT_FALSE(passes_at("time!=2000999us", 1000, 0, 2000));
    CU_ASSERT_TRUE(passes_at("time>=0 and time>1ns", UINT64_MAX, 0, UINT64_MAX));
    struct expression *expression = parse("time<1ms");
    struct bt_error error = {0};
    CU_ASSERT_EQUAL(expression_clock(expression, 0, &error), BT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "ticks"));
    expression_free(expression);
}

/* --- against the twin ------------------------------------------------------------------------ */

static char *twin_text(const struct expression_twin *twin, uint64_t *random)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    expression_twin_put(twin, random, out);
    fclose(out);
    return text;
}

#define RECORDS 200u

/* Compares a selection, record by record, with the twin. Returns whether it is right. */
static bool selects_as_twin(const struct expression *expression, const struct expression_twin *twin,
                            const struct batch *batch)
{
    uint64_t selected[RECORDS / 64 + 1];
    memset(selected, 0xa5, sizeof selected);
    size_t count = expression_select(expression, batch, batch->first_index, selected);
    uint64_t tick = batch->first_tick;
    bool right = true;
    for (size_t i = 0; i < batch->count; i++) {
        const struct record *record = &batch->records[i];
        tick += i ? record->time : 0;
        bool expected = expression_twin_match(twin, record, batch->first_index + i, tick);
        right = right && (selected[i / 64] >> i % 64 & 1) == expected &&
                expression_match(expression, record, batch->first_index + i, tick) == expected;
        count -= expected;
    }
    bool clear = batch->count % 64 == 0 || selected[batch->count / 64] >> batch->count % 64 == 0;
    return right && clear && count == 0;
}

static void test_random(void)
{
    for (unsigned seed = 0; seed < 4000; seed++) {
        uint64_t random = random_seed(seed);
        struct record records[RECORDS];
        struct expression_twin *twin =
            expression_twin_new(&random, 1 + (unsigned)random_below(&random, 12), false);
        char *text = twin_text(twin, &random);
        struct expression *expression = parse(text);
        CU_ASSERT_EQUAL(expression_clock(expression, EXPRESSION_TWIN_CLOCK, NULL), 0);
        for (size_t i = 0; i < RECORDS; i++)
            records[i] = expression_twin_record(&random, false);
        struct batch batch = {.records = records,
                              .count = random_below(&random, RECORDS + 1),
                              .first_index = random_below(&random, 300),
                              .first_tick = random_below(&random, 300)};
        bool right = selects_as_twin(expression, twin, &batch);
        if (!right)
            printf("seed %u: %s\n", seed, text);
        CU_ASSERT_TRUE(right);
        expression_free(expression);
        free(text);
        expression_twin_free(twin);
    }
}

static bool same_filter(const struct filter *a, const struct filter *b)
{
    bool same = a->types == b->types && a->processors == b->processors &&
                a->range_count == b->range_count && a->outside == b->outside;
    for (unsigned i = 0; same && i < a->range_count; i++)
        same = a->ranges[i].low == b->ranges[i].low && a->ranges[i].high == b->ranges[i].high;
    return same;
}

/* Whether the words for a filter are an expression with that filter. */
static bool words_mean(const struct filter *filter)
{
    char words[FILTER_WORDS_BYTES];
    struct expression *expression = parse(filter_words(words, filter));
    struct filter again;
    bool whole;
    CU_ASSERT_EQUAL(expression_board_part(expression, &again, &whole), 0);
    expression_free(expression);
    return whole && same_filter(filter, &again);
}

/* The board passes every record that matches; only those, if its part is the whole. */
static void test_board_part(void)
{
    unsigned wholes = 0;
    for (unsigned seed = 0; seed < 4000; seed++) {
        uint64_t random = random_seed(seed);
        struct expression_twin *twin =
            expression_twin_new(&random, 1 + (unsigned)random_below(&random, 6), seed % 4 != 0);
        char *text = twin_text(twin, &random);
        struct expression *expression = parse(text);
        struct filter filter;
        bool whole;
        CU_ASSERT_EQUAL(expression_board_part(expression, &filter, &whole), 0);
        CU_ASSERT_EQUAL(expression_clock(expression, EXPRESSION_TWIN_CLOCK, NULL), 0);
        bool right = true;
        for (unsigned i = 0; i < 300; i++) {
            struct record record = expression_twin_record(&random, true);
            uint64_t place = random_below(&random, 2000);
            bool matches = expression_match(expression, &record, place, place);
            bool passed = filter_match(&filter, &record);
            right = right && (whole ? passed == matches : passed || !matches);
        }
        right = right && words_mean(&filter);
        if (!right)
            printf("seed %u: %s\n", seed, text);
        CU_ASSERT_TRUE(right);
        wholes += whole;
        expression_free(expression);
        free(text);
        expression_twin_free(twin);
    }
    CU_ASSERT_TRUE(wholes > 500);
}

static struct filter board_part(const char *text, bool whole_expected)
{
    struct expression *expression = parse(text);
    struct filter filter;
    bool whole;
    CU_ASSERT_EQUAL(expression_board_part(expression, &filter, &whole), 0);
    CU_ASSERT_EQUAL(whole, whole_expected);
    expression_free(expression);
    return filter;
}

static void test_words(void)
{
    char words[FILTER_WORDS_BYTES];
    struct filter filter = board_part("type=FETCH|read and size=8 and addr=0x10-0x1f|5", false);
    CU_ASSERT_STRING_EQUAL(filter_words(words, &filter),
                           "type=FETCH|MEMREAD|MEMREADINV and address=0x5|0x10-0x1f");
    filter = board_part("proc!=3 and type!=HALT", true);
    CU_ASSERT_STRING_EQUAL(filter_words(words, &filter), "type!=HALT and processor!=3");
    /* the longest */
    filter = (struct filter){
        .types = 0x0ff00, .processors = 0x55, .range_count = FILTER_RANGES, .outside = true};
    for (unsigned i = 0; i < FILTER_RANGES; i++)
        filter.ranges[i] = (struct filter_range){.low = 0xf0000000u + i * 0x1000000u,
                                                 .high = 0xf0ffffffu + i * 0x1000000u - 1u};
    CU_ASSERT_TRUE(words_mean(&filter));
    CU_ASSERT_TRUE(strlen(filter_words(words, &filter)) < 300);
    filter = filter_all();
    CU_ASSERT_STRING_EQUAL(filter_words(words, &filter), "");
}

static void test_board_parts(void)
{
    struct filter filter = board_part("", true);
    CU_ASSERT_EQUAL(filter.types, 0x1ffff);
    CU_ASSERT_EQUAL(filter.processors, 0xff);
    CU_ASSERT_EQUAL(filter.range_count, 0);
    filter = board_part("type=FETCH|MEMREAD and size<8", false);
    CU_ASSERT_EQUAL(filter.types, 3);
    filter = board_part("proc=1 or proc=2,type=0-255", true);
    CU_ASSERT_EQUAL(filter.processors, 6);
    filter = board_part("proc=1 or type=FETCH", false);
    CU_ASSERT_EQUAL(filter.processors, 0xff);
    filter = board_part("address!=0xfee00000-0xfee00fff", true);
    CU_ASSERT_TRUE(filter.outside);
    CU_ASSERT_EQUAL(filter.range_count, 1);
    /* more ranges than a board holds: nine are eight, over the smallest hole */
    filter = board_part("addr=0|16|32|48|64|70|96|112|128", false);
    CU_ASSERT_EQUAL(filter.range_count, 8);
    CU_ASSERT_EQUAL(filter.ranges[4].high, 70);
    /* but eight holes are eight ranges */
    filter = board_part("addr!=1|16|32|48|64|70|96|112", true);
    CU_ASSERT_TRUE(filter.outside);
    filter = board_part("type=FETCH and type=HALT", true);
    CU_ASSERT_EQUAL(filter.types, 0);
}

/* --- errors ---------------------------------------------------------------------------------- */

static void test_errors(void)
{
    static const struct {
        const char *text;
        unsigned column;
    } wrong[] = {{"type", 5},
                 {"type=", 6},
                 {"type===FETCH", 7},
                 {"type=FETCHES", 6},
                 {"type=FETCH|", 12},
                 {"type=FETCH|proc=1", 12},
                 {"type=FETCH xor proc=1", 12},
                 {"type=FETCH and", 15},
                 {"type=FETCH,", 12},
                 {"type<FETCH", 5},
                 {"(type=FETCH", 12},
                 {"type=FETCH)", 11},
                 {"()", 2},
                 {"not", 4},
                 {"kind=8", 1},
                 {"type=256", 6},
                 {"proc=256", 6},
                 {"proc=3-1", 6},
                 {"proc=1-", 8},
                 {"proc=-1", 6},
                 {"size=8K", 6},
                 {"attribute=4", 11},
                 {"attr&4=8", 8},
                 {"addr=0x100000000", 6},
                 {"addr=99999999999999999999999", 6},
                 {"addr=0x", 6},
                 {"addr=12zz", 6},
                 {"addr=0x20-0x10", 6},
                 {"addr=0x20+0", 11},
                 {"addr=0xffffffff+2", 17},
                 {"addr=1;", 7},
                 {"addr=fee00000", 6},
                 {"addr=0x1000-1fff", 13},
                 {"time&1=1ns", 5},
                 {"time=5", 6},
                 {"time=0x", 6},
                 {"time=0xticks", 6},
                 {"time=0x1ff-0x100ticks", 6},
                 {"time=5parsecs", 6},
                 {"time=1.5ticks", 6},
                 {"time=5Xticks", 6},
                 {"time=99999999Tticks", 6},
                 {"time=2s-1s", 6},
                 {"index=5x", 7},
                 {"symbol=", 8},
                 {"symbol='low", 8},
                 {"symbol=lowest", 8},
                 {"symbol<low", 7},
                 {"\xff", 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct expression *expression = NULL;
        struct bt_error error = {0};
        char column[40], excerpt[EXPRESSION_EXCERPT_BYTES];
        snprintf(column, sizeof column, "column %u:", wrong[i].column);
        CU_ASSERT_EQUAL(
            expression_parse(&expression, wrong[i].text, &expression_twin_symbols, &error),
            BT_USAGE);
        if (!strstr(error.message, column))
            printf("%s: %s\n", wrong[i].text, error.message);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, column));
        CU_ASSERT_PTR_NULL(expression);
        expression_excerpt(excerpt, wrong[i].text, &expression_twin_symbols);
        const char *caret = strchr(excerpt, '\n');
        CU_ASSERT_PTR_NOT_NULL_FATAL(caret);
        CU_ASSERT_EQUAL(strcspn(caret + 1, "^"), wrong[i].column + 1);
    }
}

/* Misspelt words, in either case, and the ends of the messages. */
static void test_suggestions(void)
{
    static const char *const misspelt[][2] = {
        {"typ=FETCH", ", did you mean 'type'?"},
        {"not Procesor=1", ", did you mean 'processor'?"},
        {"type=FETCH and (adress=1)", ", did you mean 'address'?"},
        {"symbl=main", ", did you mean 'symbol'?"},
        {"nto type=FETCH", ", did you mean 'not'?"},
        {"type=FETCH adn processor=1", ", did you mean 'and'?"},
        {"(type=FETCH adn processor=1)", ", did you mean 'and'?"},
        {"type=feth", ", did you mean 'FETCH'?"},
        {"type=FETCH|MEMRED", ", did you mean 'MEMREAD'?"},
        {"type=wirte", ", did you mean 'write'?"},
        {"attribute=writeback|unchacheable", ", did you mean 'uncacheable'?"},
        {"colour=red", "\"not\" or \"(\""},
        {"type=colour", "0 to 255"},
        {"attribute=colour", "attribute&4=4"}};
    for (size_t i = 0; i < sizeof misspelt / sizeof *misspelt; i++) {
        struct expression *expression = NULL;
        struct bt_error error = {0};
        const char *end = misspelt[i][1];
        CU_ASSERT_EQUAL(
            expression_parse(&expression, misspelt[i][0], &expression_twin_symbols, &error),
            BT_USAGE);
        size_t length = strlen(error.message);
        CU_ASSERT_FATAL(length > strlen(end));
        CU_ASSERT_STRING_EQUAL(error.message + length - strlen(end), end);
    }
    /* without a place for the message */
    struct expression *expression = NULL;
    CU_ASSERT_EQUAL(expression_parse(&expression, "typ=FETCH", NULL, NULL), BT_USAGE);
}

static void test_hints(void)
{
    struct expression *expression = NULL;
    struct bt_error error = {0};
    CU_ASSERT_EQUAL(expression_parse(&expression, "addr=4000-4fff", NULL, &error), BT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "0x4fff"));
    CU_ASSERT_EQUAL(expression_parse(&expression, "symbol=low", NULL, &error), BT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "modules"));
    static const char *const suspects[] = {"addr=4000", "addr=00401000", "addr=1|12345678",
                                           "addr<10000000"};
    for (size_t i = 0; i < sizeof suspects / sizeof *suspects; i++) {
        expression = parse(suspects[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(expression_warning(expression));
        CU_ASSERT_PTR_NOT_NULL(strstr(expression_warning(expression), "decimal"));
        expression_free(expression);
    }
    expression = parse("addr=0x4000|4096|100|65536 and index=4000 and size=100");
    CU_ASSERT_PTR_NULL(expression_warning(expression));
    expression_free(expression);
}

/* Long and deep texts: the excerpt is a window, and depth is limited. */
static void test_long(void)
{
    char text[2000], excerpt[EXPRESSION_EXCERPT_BYTES];
    memset(text, '(', sizeof text);
    text[sizeof text - 1] = '\0';
    struct expression *expression;
    CU_ASSERT_EQUAL(expression_parse(&expression, text, NULL, NULL), BT_USAGE);
    memset(text, ' ', sizeof text);
    memcpy(text + 1500, "type=\xc3\xa4\x1b", 9);
    expression_excerpt(excerpt, text, NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(excerpt, "type=\xc3\xa4?\n"));
    CU_ASSERT_EQUAL(strcspn(strchr(excerpt, '\n') + 1, "^"), 102);
    CU_ASSERT_STRING_EQUAL(expression_excerpt(excerpt, "type=FETCH", NULL), "");
}

static const struct test_case cases[] = {{"everything", test_everything},
                                         {"clauses", test_clauses},
                                         {"connectives", test_connectives},
                                         {"addresses", test_addresses},
                                         {"places", test_places},
                                         {"random, against a twin", test_random},
                                         {"board part, random", test_board_part},
                                         {"board part", test_board_parts},
                                         {"words of board parts", test_words},
                                         {"errors name the column", test_errors},
                                         {"suggestions", test_suggestions},
                                         {"hints", test_hints},
                                         {"long texts", test_long},
                                         {NULL, NULL}};
TEST_SUITE(expression, cases)
