#include "formats/dcfg/dcfg.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

static struct dcfg *new_graph(struct dcfg_process **process)
{
    struct dcfg *graph = dcfg_new(NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(graph);
    CU_ASSERT_EQUAL(dcfg_add_standard_tables(graph, NULL), 0);
    *process = dcfg_add_process(graph, 7, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(*process);
    return graph;
}

static void add_blocks(struct dcfg_process *process, uint32_t first, uint32_t count)
{
    struct dcfg_image image = {.load_address = 0x400000, .size = 0x1000};
    CU_ASSERT_EQUAL(dcfg_add_image(process, &image, NULL), 0);
    for (uint32_t i = 0; i < count; i++) {
        struct dcfg_block block = {
            .id = first + i, .offset = 1 + i, .instructions = 2, .count = DCFG_COUNT_UNKNOWN};
        CU_ASSERT_EQUAL(dcfg_add_block(process, &block, NULL), 0);
    }
}

/* --- counts of edges, against arrays --- */

#define EDGES   400u
#define THREADS 300u

static void test_counts(void)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct dcfg_process *process;
        struct dcfg *graph = new_graph(&process);
        uint64_t state = random_seed(seed);
        uint32_t threads = 1 + (uint32_t)random_below(&state, seed % 3 ? 4 : THREADS);
        uint64_t *counts = calloc(EDGES * (size_t)threads, sizeof *counts);
        add_blocks(process, 4, 2);
        for (uint32_t i = 0; i < EDGES; i++) {
            uint64_t *row = counts + i * (size_t)threads;
            for (uint32_t k = 0; k < threads; k++)
                row[k] =
                    random_one_in(&state, 3) ? random_next(&state) >> random_below(&state, 64) : 0;
            CU_ASSERT_EQUAL(
                dcfg_add_edge(process, i + 1, 4, 5, DCFG_EDGE_BRANCH, row, threads, NULL), 0);
        }
        CU_ASSERT_EQUAL(dcfg_seal(graph, NULL), 0);
        CU_ASSERT_EQUAL(process->threads, threads);
        uint32_t wrong = 0;
        for (uint32_t i = EDGES; i-- > 0;) {
            const uint64_t *row = counts + i * (size_t)threads;
            struct dcfg_counts walk = dcfg_edge_counts(process, i);
            uint64_t total = 0;
            bool more = dcfg_counts_next(&walk);
            for (uint32_t k = 0; k < threads; k++) {
                wrong += row[k] != (more && walk.thread == k ? walk.count : 0);
                total = total > UINT64_MAX - row[k] ? UINT64_MAX : total + row[k];
                if (more && walk.thread == k)
                    more = dcfg_counts_next(&walk);
            }
            wrong += more;
            wrong += total != dcfg_edge_total(process, i);
        }
        CU_ASSERT_EQUAL(wrong, 0);
        free(counts);
        dcfg_free(graph);
    }
}

static void test_counts_of_blocks(void)
{
    struct dcfg_process *process;
    struct dcfg *graph = new_graph(&process);
    const uint64_t entry[] = {1, 1}, loop[] = {9, 0}, leave[] = {1, 0}, huge[] = {0, UINT64_MAX};
    add_blocks(process, 4, 2);
    dcfg_add_edge(process, 1, DCFG_START, 4, DCFG_EDGE_ENTRY, entry, 2, NULL);
    dcfg_add_edge(process, 2, 4, 4, DCFG_EDGE_REP, loop, 2, NULL);
    dcfg_add_edge(process, 3, 4, 5, DCFG_EDGE_FALL_THROUGH, leave, 2, NULL);
    dcfg_add_edge(process, 4, 5, DCFG_END, DCFG_EDGE_EXIT, leave, 2, NULL);
    dcfg_add_edge(process, 5, 4, 5, DCFG_EDGE_BRANCH, huge, 2, NULL);
    CU_ASSERT_EQUAL(dcfg_seal(graph, NULL), 0);
    uint64_t blocks[2], instructions[2];
    dcfg_count_blocks(process, blocks);
    CU_ASSERT_EQUAL(blocks[0], 11);
    CU_ASSERT_EQUAL(blocks[1], UINT64_MAX);
    dcfg_count_instructions(process, instructions);
    CU_ASSERT_EQUAL(instructions[0], 2 * 11);
    CU_ASSERT_EQUAL(instructions[1], UINT64_MAX);
    dcfg_free(graph);
}

/* --- images and paths --- */

static void test_paths(void)
{
    struct dcfg_process *process;
    struct dcfg *graph = new_graph(&process);
    add_blocks(process, 4, 0);
    add_blocks(process, 4, 3);
    add_blocks(process, 4, 0);
    add_blocks(process, 7, 2);
    struct dcfg_routine routine = {.entry = 7};
    struct dcfg_node node = {.id = 7, .dominator = 7};
    struct dcfg_loop loop = {.head = 8};
    for (int i = 0; i < 2; i++) {
        routine.nodes = routine.loops = (struct dcfg_range){.first = 0, .count = 0};
        for (int k = 0; k < 2; k++) {
            CU_ASSERT_EQUAL(dcfg_add_node(process, &routine.nodes, &node, NULL), 0);
            CU_ASSERT_EQUAL(dcfg_add_loop(process, &routine.loops, &loop, NULL), 0);
        }
        CU_ASSERT_EQUAL(dcfg_add_routine(process, &routine, NULL), 0);
    }
    CU_ASSERT_EQUAL(dcfg_seal(graph, NULL), 0);
    CU_ASSERT_EQUAL(dcfg_image_of_block(process, 0), 1);
    CU_ASSERT_EQUAL(dcfg_image_of_block(process, 2), 1);
    CU_ASSERT_EQUAL(dcfg_image_of_block(process, 3), 3);
    CU_ASSERT_STRING_EQUAL(dcfg_path_in_process(process, "EDGES", 4).text,
                           "PROCESSES[1][1].EDGES[5]");
    CU_ASSERT_STRING_EQUAL(dcfg_path_block(process, 4).text,
                           "PROCESSES[1][1].IMAGES[4][3].BASIC_BLOCKS[2]");
    CU_ASSERT_STRING_EQUAL(dcfg_path_routine(process, 1).text,
                           "PROCESSES[1][1].IMAGES[4][3].ROUTINES[2]");
    CU_ASSERT_STRING_EQUAL(dcfg_path_node(process, 1, 3).text,
                           "PROCESSES[1][1].IMAGES[4][3].ROUTINES[2][2][2]");
    CU_ASSERT_STRING_EQUAL(dcfg_path_loop(process, 0, 1).text,
                           "PROCESSES[1][1].IMAGES[4][3].ROUTINES[1][3][2]");
    dcfg_free(graph);
}

/* --- refused calls --- */

static void test_misuse(void)
{
    struct dcfg_process *process;
    struct bt_error error = {0};
    struct dcfg *graph = new_graph(&process);
    struct dcfg_block block = {.id = 4};
    struct dcfg_range first = {.first = 0, .count = 0}, second = {.first = 0, .count = 0};
    CU_ASSERT_EQUAL(dcfg_add_block(process, &block, &error), BT_USAGE); /* no image */
    add_blocks(process, 4, 1);
    CU_ASSERT_EQUAL(dcfg_add_id(process, &first, 4, &error), 0);
    CU_ASSERT_EQUAL(dcfg_add_id(process, &second, 4, &error), 0);
    CU_ASSERT_EQUAL(dcfg_add_id(process, &first, 4, &error), BT_USAGE);
    CU_ASSERT_EQUAL(dcfg_add_file_name(graph, 1, "a\0b", 3, &error), BT_DATA);
    CU_ASSERT_EQUAL(dcfg_add_special_node(graph, 1, "OTHER", 5, &error), BT_DATA);
    CU_ASSERT_EQUAL(dcfg_add_special_node(graph, 9, "END", 3, &error), BT_DATA);
    CU_ASSERT_EQUAL(dcfg_add_edge_type(graph, 26, "X", 1, &error), BT_DATA);
    CU_ASSERT_EQUAL(dcfg_seal(graph, &error), 0);
    CU_ASSERT_EQUAL(dcfg_add_block(process, &block, &error), BT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "sealed"));
    CU_ASSERT_EQUAL(dcfg_set_thread_instructions(process, NULL, 0, &error), BT_USAGE);
    dcfg_free(graph);
}

static void test_limits(void)
{
    struct dcfg_limits limits = {.memory_max = 100000, .threads_max = 3};
    struct bt_error error = {0};
    struct dcfg *graph = dcfg_new(&limits, &error);
    struct dcfg_process *process = dcfg_add_process(graph, 1, &error);
    const uint64_t counts[4] = {0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(process);
    CU_ASSERT_EQUAL(dcfg_add_edge(process, 1, 1, 1, DCFG_EDGE_REP, counts, 4, &error), BT_DATA);
    CU_ASSERT_EQUAL(dcfg_set_thread_instructions(process, counts, 4, &error), BT_DATA);
    uint32_t id = 0;
    int result = 0;
    while (result == 0 && id < 100000)
        result = dcfg_add_edge(process, ++id, 1, 1, DCFG_EDGE_REP, counts, 3, &error);
    CU_ASSERT_EQUAL(result, BT_MEMORY);
    CU_ASSERT(id > 1000 && id < 10000);
    CU_ASSERT(graph->memory <= limits.memory_max);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "limit"));
    dcfg_free(graph);
}

static void test_edge_types(void)
{
    unsigned within = 0, bypasses = 0;
    for (unsigned i = 1; i < DCFG_EDGE_TYPES; i++) {
        enum dcfg_edge_type type = (enum dcfg_edge_type)i;
        const char *name = dcfg_edge_type_name(type);
        CU_ASSERT_PTR_NOT_NULL_FATAL(name);
        CU_ASSERT_EQUAL(dcfg_edge_type_of(name, strlen(name)), type);
        bypasses += dcfg_edge_type_is_bypass(type);
        within += dcfg_edge_type_is_within_routine(type);
    }
    CU_ASSERT_EQUAL(bypasses, 4);
    CU_ASSERT_EQUAL(within, 9 + 4 + 3); /* branches, bypasses; REP, FALL_THROUGH, UNKNOWN */
    CU_ASSERT_EQUAL(DCFG_EDGE_FALL_THROUGH, 18);
    CU_ASSERT_EQUAL(DCFG_EDGE_UNKNOWN, 26);
    CU_ASSERT_EQUAL(dcfg_edge_type_of("CAL", 3), DCFG_EDGE_OTHER);
    CU_ASSERT_EQUAL(dcfg_edge_type_of("INTERRUPT_BYPASS", 16), DCFG_EDGE_CONTEXT_CHANGE_BYPASS);
    CU_ASSERT_EQUAL(dcfg_special_of("END", 3), DCFG_END);
    CU_ASSERT_EQUAL(dcfg_special_of("end", 3), DCFG_OTHER);
}

static const struct test_case cases[] = {
    {"counts of edges, against arrays", test_counts},
    {"counts of blocks and instructions", test_counts_of_blocks},
    {"places in the file", test_paths},
    {"misuse is refused", test_misuse},
    {"limits", test_limits},
    {"edge types", test_edge_types},
    {NULL, NULL}};
TEST_SUITE(dcfg, cases)
