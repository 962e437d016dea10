#include "formats/dcfg/edge_encoder.h"

#include "formats/dcfg/edge_walk.h"
#include "tests/suites.h"
#include "tests/support/edge_expand.h"
#include "tests/support/edge_program.h"
#include "tests/support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DICTIONARY_MAX ((size_t)1 << 26)
#define TABLE_MAX      ((size_t)1 << 28)

/* The output of an encoder, ready for reading. */
struct made {
    struct edge_encoder *encoder;
    struct transition_table *table;
    struct edge_dictionary *dictionary;
    size_t row_count, row_chars;
    size_t text_chars;
};

static struct edge_encoder *encoder_new(uint32_t edge_max, uint32_t chunk_edges,
                                        const uint32_t *instructions)
{
    struct bt_error error;
    struct edge_encoder *encoder = NULL;
    const struct edge_encoder_settings settings = {
        .edge_max = edge_max, .chunk_edges = chunk_edges, .instructions = instructions};
    CU_ASSERT_FATAL(edge_encoder_new(&encoder, &settings, &error) == 0);
    return encoder;
}

static void add_rows(struct made *made)
{
    struct bt_error error;
    struct transition_row row;
    uint32_t edges[EDGE_ENCODER_ROW_MAX];
    size_t position = 0;
    while (edge_encoder_row(made->encoder, &position, &row, edges)) {
        char code[33];
        for (uint32_t i = 0; i < row.bits; i++)
            code[i] = row.code >> (31 - i) & 1 ? '1' : '0';
        CU_ASSERT_FATAL(transition_table_add(made->table, row.current, code, row.bits, edges,
                                             row.count, &error) == 0);
        made->row_count++;
    }
    CU_ASSERT_FATAL(transition_table_finish(made->table, &error) == 0);
}

static struct made finish(struct edge_encoder *encoder)
{
    struct bt_error error;
    struct made made = {.encoder = encoder,
                        .table = transition_table_new(TABLE_MAX),
                        .dictionary = edge_dictionary_new(DICTIONARY_MAX)};
    CU_ASSERT_FATAL(made.table && made.dictionary);
    CU_ASSERT_FATAL(edge_encoder_finish(encoder, &error) == 0);
    add_rows(&made);
    CU_ASSERT_FATAL(edge_dictionary_finish(made.dictionary, &error) == 0);
    return made;
}

static void made_free(struct made *made)
{
    edge_encoder_free(made->encoder);
    transition_table_free(made->table);
    edge_dictionary_free(made->dictionary);
}

/* Decodes chunk i, alone, and compares it. */
static void check_chunk(struct made *made, size_t i, const uint32_t *expected)
{
    struct bt_error error;
    const struct edge_chunk *chunk = edge_encoder_chunk(made->encoder, i);
    struct edge_encoder_text text = {.text = NULL, .length = 0, .capacity = 0};
    struct edge_sequence *sequence = edge_sequence_new();
    struct edge_walk *walk = edge_walk_new();
    uint32_t *edges = malloc(chunk->edges * sizeof *edges + 1);
    CU_ASSERT_FATAL(sequence && walk && edges);
    CU_ASSERT_FATAL(edge_encoder_sequence(made->encoder, i, &text, &error) == 0);
    CU_ASSERT_FATAL(
        edge_sequence_start(sequence, made->dictionary, text.text, text.length, &error) == 0);
    edge_walk_start(walk, made->table, sequence, chunk->first, chunk->edges);
    size_t got = 0;
    for (long added = 1; added > 0 && got < chunk->edges; got += (size_t)added)
        if ((added = edge_walk_read(walk, edges + got, chunk->edges - got, &error)) < 0)
            CU_FAIL_FATAL("a sequence cannot be walked");
    CU_ASSERT_EQUAL(got, chunk->edges);
    CU_ASSERT(memcmp(edges, expected, got * sizeof *edges) == 0);
    CU_ASSERT_EQUAL(edge_walk_unused(walk), 0);
    made->text_chars += text.length;
    free(text.text);
    free(edges);
    edge_walk_free(walk);
    edge_sequence_free(sequence);
}

/* Checks all chunks of one thread with these edges. */
static void check_stream(struct made *made, const uint32_t *edges, size_t count)
{
    size_t at = 0;
    uint64_t instructions = 0;
    for (size_t i = 0; i < edge_encoder_chunks(made->encoder); i++) {
        const struct edge_chunk *chunk = edge_encoder_chunk(made->encoder, i);
        CU_ASSERT_FATAL(chunk->edges <= count - at);
        CU_ASSERT_EQUAL(chunk->preceding, instructions);
        check_chunk(made, i, edges + at);
        at += chunk->edges;
        instructions += chunk->instructions;
    }
    CU_ASSERT_EQUAL(at, count);
}

static void round_trip(const uint32_t *edges, size_t count, uint32_t edge_max, uint32_t chunk_edges)
{
    struct bt_error error;
    struct edge_encoder *encoder = encoder_new(edge_max, chunk_edges, NULL);
    uint64_t random = random_seed(count + edge_max);
    for (size_t at = 0, piece; at < count; at += piece) {
        piece = random_below(&random, 3000) + 1;
        piece = piece < count - at ? piece : count - at;
        CU_ASSERT_FATAL(edge_encoder_put(encoder, 0, edges + at, piece, &error) == 0);
    }
    struct made made = finish(encoder);
    check_stream(&made, edges, count);
    made_free(&made);
}

static void test_programs(void)
{
    static uint32_t edges[40000];
    for (uint64_t seed = 0; seed < 100; seed++)
        for (int kind = 0; kind < EDGE_PROGRAM_KINDS; kind++) {
            size_t count = seed < 10 ? seed : 100 + seed * 399;
            uint32_t edge_max = edge_program_run((enum edge_program_kind)kind, seed, edges, count);
            uint32_t chunk = seed % 3 == 0 ? 0 : (uint32_t)(seed * 71 + 1);
            if (count > 0)
                round_trip(edges, count, edge_max, chunk);
        }
}

/* Streams that no program makes: noise, one edge repeated, a line, a cycle, late new edges. */
static void test_strange(void)
{
    enum { COUNT = 30000 };
    static uint32_t edges[COUNT];
    for (int kind = 0; kind < 6; kind++) {
        uint64_t random = random_seed((uint64_t)kind);
        for (uint32_t i = 0; i < COUNT; i++) {
            const uint32_t kinds[] = {(uint32_t)random_below(&random, 300) + 1,
                                      7,
                                      i + 1,
                                      i % 1000 + 1,
                                      i < COUNT / 2 ? i % 10 + 1 : i % 17 + 100,
                                      (uint32_t)random_below(&random, 2) + 1};
            edges[i] = kinds[kind];
        }
        round_trip(edges, COUNT, COUNT, kind % 2 ? 0 : 4096);
    }
}

/* Decodes with the slow and obvious twin. */
static void test_twin(void)
{
    enum { COUNT = 400 };
    uint32_t edges[COUNT];
    uint32_t got[COUNT];
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct bt_error error;
        uint32_t edge_max = edge_program_run((enum edge_program_kind)(seed % EDGE_PROGRAM_KINDS),
                                             seed, edges, COUNT);
        struct edge_encoder *encoder = encoder_new(edge_max, 0, NULL);
        CU_ASSERT_FATAL(edge_encoder_put(encoder, 0, edges, COUNT, &error) == 0);
        struct made made = finish(encoder);
        struct edge_expand_row *rows = calloc(made.row_count + 1, sizeof *rows);
        char(*codes)[33] = calloc(made.row_count + 1, sizeof *codes);
        uint32_t(*next)[EDGE_ENCODER_ROW_MAX] = calloc(made.row_count + 1, sizeof *next);
        struct transition_row row;
        size_t position = 0;
        for (size_t n = 0; edge_encoder_row(encoder, &position, &row, next[n]); n++) {
            for (uint32_t i = 0; i < row.bits; i++)
                codes[n][i] = row.code >> (31 - i) & 1 ? '1' : '0';
            rows[n] = (struct edge_expand_row){
                .current = row.current, .code = codes[n], .next = next[n], .count = row.count};
        }
        struct edge_encoder_text text = {.text = NULL, .length = 0, .capacity = 0};
        CU_ASSERT_FATAL(edge_encoder_sequence(encoder, 0, &text, &error) == 0);
        char *expanded = edge_expand(text.text, NULL, 0, 100000);
        CU_ASSERT_FATAL(expanded != NULL);
        CU_ASSERT_EQUAL(edge_expand_walk(got, COUNT, edge_encoder_chunk(encoder, 0)->first,
                                         expanded, rows, made.row_count),
                        COUNT);
        CU_ASSERT(memcmp(got, edges, sizeof got) == 0);
        free(rows);
        free(codes);
        free(next);
        free(text.text);
        free(expanded);
        made_free(&made);
    }
}

/* Interleaved threads with gaps, and counted instructions. */
static void test_threads(void)
{
    enum { COUNT = 9000, THREADS = 3 };
    static uint32_t edges[THREADS][COUNT];
    static uint32_t instructions[1 << 16];
    static const uint32_t ids[THREADS] = {7, 0, 2};
    struct bt_error error;
    uint64_t random = random_seed(5);
    uint32_t edge_max = 0;
    for (int i = 0; i < THREADS; i++) {
        uint32_t most = edge_program_run(EDGE_PROGRAM_CALLS, 3, edges[i], COUNT - (size_t)i);
        edge_max = most > edge_max ? most : edge_max;
    }
    for (uint32_t i = 1; i <= edge_max; i++)
        instructions[i] = (uint32_t)random_below(&random, 20);
    struct edge_encoder *encoder = encoder_new(edge_max, 2500, instructions);
    size_t at[THREADS] = {0};
    for (bool any = true; any;) {
        any = false;
        for (int i = 0; i < THREADS; i++) {
            size_t piece = random_below(&random, 700);
            size_t left = COUNT - (size_t)i - at[i];
            piece = piece < left ? piece : left;
            CU_ASSERT_FATAL(edge_encoder_put(encoder, ids[i], edges[i] + at[i], piece, &error) ==
                            0);
            if (at[i] < 4000 && at[i] + piece >= 4000 && i == 1)
                CU_ASSERT_FATAL(edge_encoder_gap(encoder, ids[i], 1000000, &error) == 0);
            at[i] += piece;
            any = any || at[i] < COUNT - (size_t)i;
        }
    }
    struct made made = finish(encoder);
    static const int order[THREADS] = {1, 2, 0};
    size_t chunk = 0;
    for (int k = 0; k < THREADS; k++) {
        int i = order[k];
        uint64_t sum = 0;
        for (size_t done = 0; done < COUNT - (size_t)i; chunk++) {
            const struct edge_chunk *is = edge_encoder_chunk(encoder, chunk);
            CU_ASSERT_EQUAL_FATAL(is->thread, ids[i]);
            uint64_t gap = i == 1 && done >= 4000 ? 1000000 : 0;
            CU_ASSERT_EQUAL(is->preceding, sum + gap);
            check_chunk(&made, chunk, edges[i] + done);
            uint64_t own = 0;
            for (uint64_t n = 0; n < is->edges; n++)
                own += instructions[edges[i][done++]];
            CU_ASSERT_EQUAL(is->instructions, own);
            sum += own;
        }
    }
    CU_ASSERT_EQUAL(chunk, edge_encoder_chunks(encoder));
    made_free(&made);
}

static void test_misuse(void)
{
    struct bt_error error;
    struct edge_encoder *encoder = NULL;
    const struct edge_encoder_settings none = {
        .edge_max = 0, .chunk_edges = 0, .instructions = NULL};
    const uint32_t bad[] = {1, 2, 4, 0};
    CU_ASSERT_EQUAL(edge_encoder_new(&encoder, &none, &error), BT_USAGE);
    encoder = encoder_new(3, 0, NULL);
    CU_ASSERT_EQUAL(edge_encoder_put(encoder, 0, bad, 2, &error), 0);
    CU_ASSERT_EQUAL(edge_encoder_put(encoder, 0, bad, 3, &error), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, "an edge id is not between 1 and 3");
    CU_ASSERT_EQUAL(edge_encoder_put(encoder, 0, bad + 3, 1, &error), BT_USAGE);
    edge_encoder_free(encoder);
    /* without edges */
    struct made made = finish(encoder_new(3, 0, NULL));
    CU_ASSERT_EQUAL(edge_encoder_chunks(made.encoder), 0);
    CU_ASSERT_EQUAL(made.row_count, 0);
    made_free(&made);
}

/* Repetitions become long phrases: 300,000 edges, of a period and of nested loops. */
static void test_size(void)
{
    enum { COUNT = 300000 };
    static uint32_t edges[COUNT];
    struct bt_error error;
    size_t at = 0;
    for (uint32_t outer = 0; at < COUNT; outer++)
        for (uint32_t middle = 0; middle < 17; middle++) {
            for (uint32_t inner = 0; inner < middle * 3 && at < COUNT; inner++)
                edges[at++] = inner % 2 + 1;
            if (at < COUNT)
                edges[at++] = middle + 10;
        }
    struct edge_encoder *encoder = encoder_new(30, 0, NULL);
    CU_ASSERT_FATAL(edge_encoder_put(encoder, 0, edges, COUNT, &error) == 0);
    struct made made = finish(encoder);
    check_stream(&made, edges, COUNT);
    CU_ASSERT(made.text_chars < COUNT / 100);
    CU_ASSERT(made.row_count < 60);
    made_free(&made);
}

static const struct test_case cases[] = {
    {"random programs", test_programs},
    {"streams that no program makes", test_strange},
    {"against substitution and one bit at a time", test_twin},
    {"threads, gaps, instructions", test_threads},
    {"misuse", test_misuse},
    {"what repeats is short", test_size},
    {NULL, NULL},
};
TEST_SUITE(edge_encoder, cases)
