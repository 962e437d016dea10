#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/dcfg/graph/names.h"

#include <string.h>

#define SPANS 12u
#define SPACE 40u

struct symbol_list {
    uint64_t offset[SPANS], size[SPANS];
    uint32_t count;
};

/* The symbol of an offset, slowly: of those that cover it, the last to begin, then the shortest
 * (without a size: the longest), then the first in the file. One without a size ends at the next.
 */
static int covers(const struct symbol_list *symbols, uint64_t offset)
{
    int best = -1;
    uint64_t best_rank = 0;
    for (uint32_t i = 0; i < symbols->count; i++) {
        uint64_t end = symbols->offset[i] + symbols->size[i];
        if (symbols->size[i] == 0) {
            end = UINT64_MAX;
            for (uint32_t j = 0; j < symbols->count; j++)
                if (symbols->offset[j] > symbols->offset[i] && symbols->offset[j] < end)
                    end = symbols->offset[j];
        }
        if (offset < symbols->offset[i] || offset >= end)
            continue;
        uint64_t rank = symbols->size[i] ? end : UINT64_MAX;
        if (best < 0 || symbols->offset[i] > symbols->offset[best] ||
            (symbols->offset[i] == symbols->offset[best] && rank < best_rank)) {
            best = (int)i;
            best_rank = rank;
        }
    }
    return best;
}

static struct dcfg *make_graph(const struct symbol_list symbols[2])
{
    struct bt_error error = {0};
    struct dcfg *graph = dcfg_new(NULL, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(graph);
    struct dcfg_process *process = dcfg_add_process(graph, 1, &error);
    CU_ASSERT_EQUAL_FATAL(dcfg_add_file_name(graph, 1, "f", 1, &error), 0);
    for (unsigned image = 0; image < 2; image++) {
        struct dcfg_image row = {.id = image + 1, .load_address = 0x1000 * (image + 1)};
        CU_ASSERT_EQUAL_FATAL(dcfg_add_image(process, &row, &error), 0);
        for (uint32_t i = 0; i < symbols[image].count; i++) {
            char name[8] = {(char)('a' + image), (char)('a' + i)};
            struct dcfg_line line = {.offset = symbols[image].offset[i],
                                     .size = (uint32_t)symbols[image].size[i],
                                     .file_name_id = 1,
                                     .line = i + 1};
            CU_ASSERT_EQUAL_FATAL(dcfg_add_symbol(process, symbols[image].offset[i],
                                                  symbols[image].size[i], name, 2, &error),
                                  0);
            CU_ASSERT_EQUAL_FATAL(dcfg_add_line(process, &line, &error), 0);
        }
    }
    CU_ASSERT_EQUAL_FATAL(dcfg_seal(graph, &error), 0);
    return graph;
}

static void compare(const struct names *names, const struct symbol_list symbols[2])
{
    for (unsigned image = 0; image < 2; image++)
        for (uint64_t offset = 0; offset < SPACE; offset++) {
            struct code_location location;
            names_at(names, image, offset, &location);
            int best = covers(&symbols[image], offset);
            CU_ASSERT_EQUAL_FATAL(location.address, 0x1000 * (image + 1) + offset);
            CU_ASSERT_EQUAL_FATAL(location.symbol != NULL, best >= 0);
            CU_ASSERT_EQUAL_FATAL(location.file != NULL, best >= 0);
            if (best < 0)
                continue;
            CU_ASSERT_EQUAL_FATAL(location.symbol[0], 'a' + (char)image);
            CU_ASSERT_EQUAL_FATAL(location.symbol[1], 'a' + best);
            CU_ASSERT_EQUAL_FATAL(location.symbol_offset, offset - symbols[image].offset[best]);
            CU_ASSERT_EQUAL_FATAL(location.line, (uint32_t)best + 1);
        }
}

static void test_spans_of_all_kinds(void)
{
    for (uint64_t seed = 0; seed < 3000; seed++) {
        uint64_t state = random_seed(seed);
        struct symbol_list symbols[2] = {{.count = 0}};
        for (unsigned image = 0; image < 2; image++) {
            symbols[image].count = (uint32_t)random_below(&state, SPANS + 1);
            for (uint32_t i = 0; i < symbols[image].count; i++) {
                symbols[image].offset[i] = random_below(&state, SPACE);
                symbols[image].size[i] =
                    random_one_in(&state, 4) ? 0 : random_below(&state, SPACE / 2);
            }
        }
        struct bt_error error = {0};
        struct dcfg *graph = make_graph(symbols);
        struct names *names = names_new(graph->processes[0], &error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(names);
        compare(names, symbols);
        names_free(names);
        dcfg_free(graph);
    }
}

/* Offsets and sizes at the end of 64 bits. */
static void test_largest_offsets(void)
{
    struct bt_error error = {0};
    struct dcfg *graph = dcfg_new(NULL, &error);
    struct dcfg_process *process = dcfg_add_process(graph, 1, &error);
    struct dcfg_image row = {.id = 1};
    struct code_location location;
    CU_ASSERT_EQUAL_FATAL(dcfg_add_image(process, &row, &error), 0);
    CU_ASSERT_EQUAL_FATAL(dcfg_add_symbol(process, 5, UINT64_MAX, "a", 1, &error), 0);
    CU_ASSERT_EQUAL_FATAL(dcfg_add_symbol(process, UINT64_MAX - 1, 9, "b", 1, &error), 0);
    CU_ASSERT_EQUAL_FATAL(dcfg_seal(graph, &error), 0);
    struct names *names = names_new(process, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(names);
    names_at(names, 0, 1000, &location);
    CU_ASSERT_STRING_EQUAL(location.symbol, "a");
    names_at(names, 0, UINT64_MAX - 1, &location);
    CU_ASSERT_STRING_EQUAL(location.symbol, "b");
    names_at(names, 0, 4, &location);
    CU_ASSERT_PTR_NULL(location.symbol);
    names_free(names);
    dcfg_free(graph);
}

static const struct test_case cases[] = {
    {"spans of all kinds against a slow twin", test_spans_of_all_kinds},
    {"the largest offsets", test_largest_offsets},
    {NULL, NULL}};
TEST_SUITE(cfg_names, cases)
