/* Graphs of executions are those of their records: random programs, threads, repetitions, records
 * that belong to no block, holes, several files. */
#include "formats/dcfg/dcfg_writer.h"
#include "tests/suites.h"
#include "tests/support/block_coder.h"
#include "tests/support/program_records.h"
#include "tests/support/random.h"
#include "tools/dcfg/graph/build.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS_MAX 30000u
#define MEMORY      (64u << 20)

/* Puts the records of a capture in members of random size, with holes; with a coder by blocks. */
static void put_all(struct build *build, const struct record *records, size_t count, uint64_t seed,
                    struct block_coder *coder)
{
    uint64_t random = random_seed(seed);
    struct record *copy = malloc(count * sizeof *copy);
    struct capture_info info = {.id = {1}, .sizes_estimated = random_one_in(&random, 10)};
    uint64_t index = 100;
    CU_ASSERT_FATAL(copy != NULL);
    memcpy(copy, records, count * sizeof *copy);
    strcpy(info.bus, random_one_in(&random, 6) ? "P6" : CAPTURE_BUS_PROGRAM);
    for (size_t at = 0, some; at < count; at += some) {
        if (at == 0 || random_one_in(&random, 5)) {
            info.id[0] = (uint8_t)(info.id[0] + random_one_in(&random, 3));
            build_file(build, &info);
        }
        some = 1 + (size_t)random_below(&random, random_one_in(&random, 3) ? 100 : 9000);
        some = some < count - at ? some : count - at;
        struct batch batch = {.records = copy + at, .count = some, .first_tick = at};
        batch.gap.milliseconds = random_one_in(&random, 9);
        batch.lost.count[LOSS_QUEUE] = 3 * random_one_in(&random, 9);
        index += batch.lost.count[LOSS_QUEUE] + random_one_in(&random, 9);
        batch.first_index = index;
        index += some;
        const struct block_executions *executions =
            coder ? block_coder_put(coder, batch.records, some) : NULL;
        CU_ASSERT_FATAL(!coder || executions);
        CU_ASSERT((executions ? build_put_executions(build, &batch, executions, NULL)
                              : build_put(build, &batch, NULL)) == 0);
    }
    free(copy);
}

/* The graph and the counts of a build, as text; NULL: there is no fetch. */
static struct text_writer *finish(struct build *build, struct build_counts *counts)
{
    struct dcfg *graph = NULL;
    struct text_writer *text = NULL;
    if (build_graph(build, &graph, NULL) == 0) {
        text = text_writer_new_memory(NULL);
        CU_ASSERT_FATAL(text && dcfg_write_text(graph, text, NULL, NULL) == 0);
    }
    *counts = build_counts(build);
    dcfg_free(graph);
    return text;
}

static bool same_text(const struct text_writer *a, const struct text_writer *b)
{
    size_t sizes[2];
    if (!a || !b)
        return a == b;
    const char *text = text_writer_memory(a, &sizes[0]);
    const char *other = text_writer_memory(b, &sizes[1]);
    return sizes[0] == sizes[1] && memcmp(text, other, sizes[0]) == 0;
}

static void test_same_as_records(void)
{
    static struct record records[RECORDS_MAX];
    static const enum fetch_kind kinds[] = {FETCH_INSTR, FETCH_AUTO};
    struct block_coder coder;
    uint64_t random = random_seed(19);
    CU_ASSERT_FATAL(block_coder_make(&coder, RECORDS_MAX));
    for (unsigned i = 0; i < 200; i++) {
        const size_t count = 1 + (size_t)random_below(&random, i % 8 ? 3000 : RECORDS_MAX);
        const struct build_settings settings = {.fetch = kinds[i % 2], .memory_max = MEMORY};
        struct build_counts counts[2];
        struct text_writer *texts[2];
        program_records_fill(records, count, i % (PROGRAM_RECORDS_ALL + 1), &random);
        for (unsigned way = 0; way < 2; way++) {
            struct build *build = build_new(&settings, NULL);
            CU_ASSERT_PTR_NOT_NULL_FATAL(build);
            put_all(build, records, count, i, way == 0 ? NULL : &coder);
            texts[way] = finish(build, &counts[way]);
            build_free(build);
        }
        CU_ASSERT(same_text(texts[0], texts[1]));
        CU_ASSERT_EQUAL(counts[0].records, counts[1].records);
        CU_ASSERT_EQUAL(counts[0].fetches, counts[1].fetches);
        CU_ASSERT_EQUAL(counts[0].holes, counts[1].holes);
        text_writer_free(texts[0]);
        text_writer_free(texts[1]);
    }
    block_coder_clear(&coder);
}

static const struct test_case cases[] = {{"the same as records", test_same_as_records},
                                         {NULL, NULL}};
TEST_SUITE(flow_executions, cases)
