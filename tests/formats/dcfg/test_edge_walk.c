#include "formats/dcfg/edge_walk.h"

#include "tests/suites.h"
#include "tests/support/edge_expand.h"
#include "tests/support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_MAX ((size_t)1 << 24)
#define ROWS_MAX  1000u
#define IDS(...)                                                                                   \
    (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)
#define NEXT(...)                                                                                  \
    .next = (const uint32_t[]){__VA_ARGS__},                                                       \
    .count = sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)

/* The table of section 3.5. */
static const struct edge_expand_row *specified(size_t *count)
{
    static const uint32_t next[] = {124, 125, 456, 543, 542, 549, 540, 541};
    static const struct edge_expand_row rows[] = {
        {.current = 123, .code = "0", .next = next, .count = 1},
        {.current = 123, .code = "1", .next = next + 1, .count = 1},
        {.current = 124, .code = "", .next = next + 2, .count = 1},
        {.current = 125, .code = "0", .next = next + 3, .count = 1},
        {.current = 125, .code = "10", .next = next + 4, .count = 2},
        {.current = 125, .code = "11", .next = next + 6, .count = 2},
    };
    *count = sizeof rows / sizeof *rows;
    return rows;
}

static struct transition_table *table_of(const struct edge_expand_row *rows, size_t count)
{
    struct bt_error error;
    struct transition_table *table = transition_table_new(TABLE_MAX);
    CU_ASSERT_FATAL(table != NULL);
    for (size_t i = 0; i < count; i++)
        CU_ASSERT_FATAL(transition_table_add(table, rows[i].current, rows[i].code,
                                             strlen(rows[i].code), rows[i].next, rows[i].count,
                                             &error) == 0);
    return table;
}

/* A walker with its inputs. */
struct walker {
    struct transition_table *table;
    struct edge_sequence *sequence;
    struct edge_walk *walk;
};

static struct walker walker_new(const struct edge_expand_row *rows, size_t count)
{
    struct bt_error error;
    struct walker walker = {table_of(rows, count), edge_sequence_new(), edge_walk_new()};
    CU_ASSERT_FATAL(walker.sequence && walker.walk);
    CU_ASSERT_FATAL(transition_table_finish(walker.table, &error) == 0);
    return walker;
}

static void walker_free(struct walker *walker)
{
    edge_walk_free(walker->walk);
    edge_sequence_free(walker->sequence);
    transition_table_free(walker->table);
}

static void start(struct walker *walker, const char *text, uint32_t first, uint64_t count)
{
    struct bt_error error;
    CU_ASSERT_FATAL(edge_sequence_start(walker->sequence, NULL, text, strlen(text), &error) == 0);
    edge_walk_start(walker->walk, walker->table, walker->sequence, first, count);
}

/* "w" is 110000, "A" 000000. */
static void test_specified(void)
{
    size_t count;
    const struct edge_expand_row *rows = specified(&count);
    struct walker walker = walker_new(rows, count);
    struct bt_error error;
    uint32_t edges[8];
    start(&walker, "w", 123, 4);
    CU_ASSERT_EQUAL_FATAL(edge_walk_read(walker.walk, edges, 8, &error), 4);
    CU_ASSERT(edges[0] == 123 && edges[1] == 125 && edges[2] == 542 && edges[3] == 549);
    CU_ASSERT_EQUAL(edge_walk_read(walker.walk, edges, 8, &error), 0);
    CU_ASSERT_EQUAL(edge_walk_unused(walker.walk), 0);
    start(&walker, "A", 123, 3);
    CU_ASSERT_EQUAL_FATAL(edge_walk_read(walker.walk, edges, 8, &error), 3);
    CU_ASSERT(edges[0] == 123 && edges[1] == 124 && edges[2] == 456);
    /* a chunk of one edge, and an empty one */
    start(&walker, "", 77, 1);
    CU_ASSERT_EQUAL_FATAL(edge_walk_read(walker.walk, edges, 8, &error), 1);
    CU_ASSERT_EQUAL(edges[0], 77);
    start(&walker, "AB", 77, 0);
    CU_ASSERT_EQUAL(edge_walk_read(walker.walk, edges, 8, &error), 0);
    CU_ASSERT_EQUAL(edge_walk_unused(walker.walk), 2);
    /* the twin sees the same */
    CU_ASSERT_EQUAL(edge_expand_walk(edges, 4, 123, "w", rows, count), 4);
    CU_ASSERT(edges[1] == 125 && edges[2] == 542 && edges[3] == 549);
    walker_free(&walker);
}

/* Section 3.7.1.1: "C+" is 000010111110, of which eleven bits are needed. */
static void test_trailing_bits(void)
{
    static const uint32_t expected[] = {1, 1, 1, 1, 1, 2, 1, 2, 2, 2, 2, 2};
    const struct edge_expand_row rows[] = {{.current = 1, .code = "0", NEXT(1)},
                                           {.current = 1, .code = "1", NEXT(2)},
                                           {.current = 2, .code = "0", NEXT(1)},
                                           {.current = 2, .code = "1", NEXT(2)}};
    struct walker walker = walker_new(rows, 4);
    struct bt_error error;
    uint32_t edges[16];
    start(&walker, "C+", 1, 12);
    CU_ASSERT_EQUAL_FATAL(edge_walk_read(walker.walk, edges, 16, &error), 12);
    CU_ASSERT(memcmp(edges, expected, sizeof expected) == 0);
    CU_ASSERT_EQUAL(edge_walk_read(walker.walk, edges, 16, &error), 0);
    CU_ASSERT_EQUAL(edge_walk_unused(walker.walk), 0);
    walker_free(&walker);
}

static void fails(struct walker *walker, const char *text, uint32_t first, const char *expected)
{
    struct bt_error error = {0, ""};
    uint32_t edges[64];
    start(walker, text, first, 64);
    long got;
    do
        got = edge_walk_read(walker->walk, edges, 64, &error);
    while (got > 0);
    CU_ASSERT_EQUAL(got, BT_DATA);
    CU_ASSERT_STRING_EQUAL(error.message, expected);
}

static void test_no_transition(void)
{
    const struct edge_expand_row rows[] = {{.current = 1, .code = "00", NEXT(1)},
                                           {.current = 1, .code = "01", NEXT(2, 3)},
                                           {.current = 1, .code = "10000000000000000001", NEXT(1)}};
    struct walker walker = walker_new(rows, 3);
    fails(&walker, "AA", 1, "the EDGE_ID_SEQUENCE ends after edge 7 of 64");
    fails(&walker, "BAAAAAAAA", 1, "the TRANSITION_TABLE has no successor of edge 5 of the chunk");
    fails(&walker, "AwAAAAAAA", 1,
          "the TRANSITION_TABLE has no code for the bits after edge 4 of the chunk");
    fails(&walker, "AgAAAAAAA", 1,
          "the TRANSITION_TABLE has no code for the bits after edge 4 of the chunk");
    fails(&walker, "AgAAQ", 1, "the EDGE_ID_SEQUENCE ends after edge 7 of 64");
    fails(&walker, "Ag", 1, "the EDGE_ID_SEQUENCE ends after edge 4 of 64");
    fails(&walker, "AgAA", 4, "the TRANSITION_TABLE has no successor of edge 1 of the chunk");
    walker_free(&walker);
}

static void add_fails(uint32_t current, const char *code, const uint32_t *next, size_t count,
                      const char *expected)
{
    struct bt_error error = {0, ""};
    struct transition_table *table = transition_table_new(TABLE_MAX);
    CU_ASSERT_EQUAL(transition_table_add(table, current, code, strlen(code), next, count, &error),
                    BT_DATA);
    CU_ASSERT_STRING_EQUAL(error.message, expected);
    transition_table_free(table);
}

static void finish_fails(const char *first, const char *second, const char *expected)
{
    struct bt_error error = {0, ""};
    const struct edge_expand_row rows[] = {{.current = 7, .code = first, NEXT(8)},
                                           {.current = 6, .code = "", NEXT(7)},
                                           {.current = 7, .code = second, NEXT(9)}};
    struct transition_table *table = table_of(rows, 3);
    CU_ASSERT_EQUAL(transition_table_finish(table, &error), BT_DATA);
    CU_ASSERT_STRING_EQUAL(error.message, expected);
    transition_table_free(table);
}

static void test_damaged(void)
{
    add_fails(0, "", IDS(1), "CURRENT_EDGE_ID 0 is not between 1 and 0x7fffffff");
    add_fails(0x80000000u, "", IDS(1),
              "CURRENT_EDGE_ID 2147483648 is not between 1 and 0x7fffffff");
    add_fails(1, "", IDS(1, 0), "edge id 0 is not between 1 and 0x7fffffff");
    add_fails(1, "", NULL, 0, "NEXT_EDGE_IDS is empty");
    add_fails(1, "012", IDS(1), "a TRANSITION_CODE with characters other than 0 and 1");
    add_fails(1, "000000000000000000000000000000000", IDS(1),
              "a TRANSITION_CODE of 33 bits; 32 are allowed");
    finish_fails("0", "0", "edge 7: the TRANSITION_CODEs \"0\" and \"0\" are ambiguous");
    finish_fails("00", "0", "edge 7: the TRANSITION_CODEs \"0\" and \"00\" are ambiguous");
    finish_fails("1", "", "edge 7: the TRANSITION_CODEs \"\" and \"1\" are ambiguous");
    finish_fails("1011", "10", "edge 7: the TRANSITION_CODEs \"10\" and \"1011\" are ambiguous");
}

/* Rows, edges, and the index for finding them are all within the limit. */
static void test_limits(void)
{
    struct bt_error error;
    uint32_t next[100];
    for (uint32_t i = 0; i < 100; i++)
        next[i] = 1 + i;
    struct transition_table *table = transition_table_new(1200);
    CU_ASSERT_EQUAL(transition_table_add(table, 1, "0", 1, next, 100, &error), 0);
    CU_ASSERT_EQUAL(transition_table_add(table, 1, "10", 2, next, 100, &error), 0);
    CU_ASSERT_EQUAL(transition_table_add(table, 1, "11", 2, next, 100, &error), BT_DATA);
    CU_ASSERT_STRING_EQUAL(error.message, "a TRANSITION_TABLE of more than 1200 octets");
    CU_ASSERT_EQUAL(transition_table_finish(table, &error), 0);
    transition_table_free(table);
    table = transition_table_new(1200);
    for (uint32_t i = 0; i < 40; i++)
        CU_ASSERT_EQUAL(transition_table_add(table, 1 + i, "", 0, next, 1, &error), 0);
    CU_ASSERT_EQUAL(transition_table_finish(table, &error), BT_DATA);
    transition_table_free(table);
}

/* Zero bits without end: as many edges as requested, and no more. */
static void test_zero_bits(void)
{
    const struct edge_expand_row rows[] = {{.current = 5, .code = "", NEXT(6, 7)},
                                           {.current = 7, .code = "", NEXT(5)}};
    struct walker walker = walker_new(rows, 2);
    struct bt_error error;
    uint32_t edges[1000];
    start(&walker, "", 5, UINT64_MAX);
    for (size_t i = 0; i < 999; i += 333) {
        CU_ASSERT_EQUAL(edge_walk_read(walker.walk, edges, 333, &error), 333);
        CU_ASSERT(edges[0] == 5 && edges[1] == 6 && edges[332] == 7);
    }
    walker_free(&walker);
}

/* A table made at random, and the storage of its rows. */
struct random_table {
    struct edge_expand_row rows[ROWS_MAX];
    char codes[ROWS_MAX][33];
    uint32_t next[ROWS_MAX][40];
    size_t count;
    uint32_t edges; /* ids 1 to edges; those from states on have no rows */
    uint32_t states;
};

/* Gives codes to a state by splitting a code a random number of times. */
static void random_codes(uint64_t *random, struct random_table *table, uint32_t state,
                         const char *prefix)
{
    size_t length = strlen(prefix);
    if (table->count == ROWS_MAX || random_one_in(random, 40))
        return;
    if (length == 32 || random_one_in(random, length > 8 ? 8 : 3)) {
        size_t i = table->count++;
        size_t count = random_one_in(random, 6) ? 40 : random_below(random, 3) + 1;
        strcpy(table->codes[i], prefix);
        for (size_t k = 0; k < count; k++)
            table->next[i][k] = (uint32_t)random_below(random, table->edges) + 1;
        if (!random_one_in(random, 30))
            table->next[i][count - 1] = (uint32_t)random_below(random, table->states) + 1;
        table->rows[i] = (struct edge_expand_row){
            .current = state, .code = table->codes[i], .next = table->next[i], .count = count};
        return;
    }
    char longer[34];
    for (int bit = 0; bit < 2; bit++) {
        snprintf(longer, sizeof longer, "%s%d", prefix, bit);
        /* sometimes one long code */
        while (random_one_in(random, 20) && strlen(longer) < 32)
            strcat(longer, random_one_in(random, 2) ? "0" : "1");
        random_codes(random, table, state, longer);
    }
}

static void walk_both(struct walker *walker, const struct random_table *table, uint64_t *random)
{
    static uint32_t expected[3000];
    static uint32_t got[3000];
    char text[200];
    size_t length = random_below(random, sizeof text);
    for (size_t i = 0; i < length; i++)
        text[i] = edge_text_character((unsigned)random_below(random, 64));
    text[length] = '\0';
    size_t count = random_below(random, 3000);
    uint32_t first = (uint32_t)random_below(random, table->edges) + 1;
    size_t wanted = edge_expand_walk(expected, count, first, text, table->rows, table->count);
    start(walker, text, first, count);
    struct bt_error error;
    size_t at = 0;
    long added;
    do {
        size_t piece = random_below(random, 200) + 1;
        if (piece > 3000 - at)
            piece = 3000 - at;
        added = edge_walk_read(walker->walk, got + at, piece, &error);
        at += added > 0 ? (size_t)added : 0;
    } while (added > 0 && at < 3000);
    CU_ASSERT_EQUAL_FATAL(at, wanted);
    CU_ASSERT(memcmp(got, expected, at * sizeof *got) == 0);
    CU_ASSERT(at == count ? added == 0 : added == BT_DATA);
}

static void test_twin(void)
{
    static struct random_table table;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        uint64_t random = random_seed(seed);
        table.count = 0;
        table.states = (uint32_t)random_below(&random, 12) + 1;
        table.edges = table.states + (uint32_t)random_below(&random, 20);
        for (uint32_t state = 1; state <= table.states; state++)
            random_codes(&random, &table, state, "");
        struct walker walker = walker_new(table.rows, table.count);
        for (int i = 0; i < 4; i++)
            walk_both(&walker, &table, &random);
        walker_free(&walker);
    }
}

static const struct test_case cases[] = {
    {"the walks of section 3.5", test_specified},
    {"unused bits, section 3.7.1.1", test_trailing_bits},
    {"bits without a transition", test_no_transition},
    {"damaged tables", test_damaged},
    {"limits", test_limits},
    {"transitions of zero bits", test_zero_bits},
    {"against one bit at a time", test_twin},
    {NULL, NULL},
};
TEST_SUITE(edge_walk, cases)
