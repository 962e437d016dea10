#include "tests/suites.h"
#include "tools/dcfg/graph/loop_counts.h"

#include <stdlib.h>
#include <string.h>

/*
 * One routine, blocks 4 to 9 of 2 instructions: 4 -> 5; 5 is the head of the outer loop, 6 that of
 * the inner one. Block 7 calls 9, which returns to 6; 8 branches back to 5 or exits.
 */
struct loop_row {
    uint32_t head, parent, back, nodes[4];
};

static const struct edge_row {
    uint32_t source, target;
    uint8_t type;
    uint64_t count;
} edge_rows[] = {{DCFG_START, 4, DCFG_EDGE_ENTRY, 1},
                 {4, 5, DCFG_EDGE_FALL_THROUGH, 1},
                 {5, 6, DCFG_EDGE_FALL_THROUGH, 10},
                 {6, 7, DCFG_EDGE_FALL_THROUGH, 70},
                 {7, 9, DCFG_EDGE_DIRECT_CALL, 70},
                 {9, 6, DCFG_EDGE_RETURN, 70},
                 {7, 6, DCFG_EDGE_CALL_BYPASS, 0},
                 {6, 8, DCFG_EDGE_DIRECT_CONDITIONAL_BRANCH, 10},
                 {8, 5, DCFG_EDGE_DIRECT_CONDITIONAL_BRANCH, 9},
                 {8, DCFG_END, DCFG_EDGE_EXIT, 1}};

static struct dcfg *make_graph(const struct loop_row *loops, uint32_t count)
{
    struct bt_error error = {0};
    struct dcfg *graph = dcfg_new(NULL, &error);
    CU_ASSERT_EQUAL_FATAL(dcfg_add_standard_tables(graph, &error), 0);
    struct dcfg_process *process = dcfg_add_process(graph, 1, &error);
    struct dcfg_image image = {.id = 1, .load_address = 0x1000};
    struct dcfg_routine routine = {.entry = 4};
    CU_ASSERT_EQUAL_FATAL(dcfg_add_image(process, &image, &error), 0);
    for (uint32_t id = 4; id <= 9; id++) {
        struct dcfg_block block = {.offset = id * 16,
                                   .count = DCFG_COUNT_UNKNOWN,
                                   .id = id,
                                   .size = 8,
                                   .instructions = 2,
                                   .last_instruction = 4};
        struct dcfg_node node = {.id = id, .dominator = id == 4 ? 4 : id - 1};
        CU_ASSERT_EQUAL_FATAL(dcfg_add_block(process, &block, &error), 0);
        CU_ASSERT_EQUAL_FATAL(dcfg_add_node(process, &routine.nodes, &node, &error), 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct dcfg_loop loop = {.head = loops[i].head, .parent = loops[i].parent};
        CU_ASSERT_EQUAL_FATAL(dcfg_add_id(process, &loop.back_edges, loops[i].back, &error), 0);
        for (unsigned n = 0; n < 4 && loops[i].nodes[n]; n++)
            CU_ASSERT_EQUAL_FATAL(dcfg_add_id(process, &loop.nodes, loops[i].nodes[n], &error), 0);
        CU_ASSERT_EQUAL_FATAL(dcfg_add_loop(process, &routine.loops, &loop, &error), 0);
    }
    CU_ASSERT_EQUAL_FATAL(dcfg_add_routine(process, &routine, &error), 0);
    for (uint32_t i = 0; i < sizeof edge_rows / sizeof edge_rows[0]; i++)
        CU_ASSERT_EQUAL_FATAL(dcfg_add_edge(process, i + 1, edge_rows[i].source,
                                            edge_rows[i].target, edge_rows[i].type,
                                            &edge_rows[i].count, 1, &error),
                              0);
    CU_ASSERT_EQUAL_FATAL(dcfg_seal(graph, &error), 0);
    return graph;
}

static struct loop_count *count(const struct dcfg *graph)
{
    struct graph_profile profile;
    struct bt_error error = {0};
    CU_ASSERT_EQUAL_FATAL(graph_profile_make(&profile, graph->processes[0], &error), 0);
    struct loop_count *counts = loop_counts_make(&profile, NULL, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(counts);
    graph_profile_clear(&profile);
    return counts;
}

static void test_nested(void)
{
    const struct loop_row loops[] = {{.head = 6, .parent = 5, .back = 7, .nodes = {6, 7}},
                                     {.head = 5, .parent = 0, .back = 8, .nodes = {5, 6, 7, 8}}};
    struct dcfg *graph = make_graph(loops, 2);
    struct loop_count *counts = count(graph);
    CU_ASSERT_EQUAL(counts[0].parent, 1);
    CU_ASSERT_EQUAL(counts[0].depth, 2);
    CU_ASSERT_EQUAL(counts[0].entries, 10);
    CU_ASSERT_EQUAL(counts[0].back, 70); /* through returns of the call */
    CU_ASSERT_EQUAL(counts[0].instructions, 2 * (80 + 70));
    CU_ASSERT_EQUAL(counts[1].parent, DCFG_NONE);
    CU_ASSERT_EQUAL(counts[1].depth, 1);
    CU_ASSERT_EQUAL(counts[1].entries, 1);
    CU_ASSERT_EQUAL(counts[1].back, 9);
    CU_ASSERT_EQUAL(counts[1].instructions, 2 * (10 + 80 + 70 + 10));
    free(counts);
    dcfg_free(graph);
}

/* An invalid graph: a cycle of parents, a duplicate head, a duplicate block. */
static void test_unsound(void)
{
    const struct loop_row loops[] = {{.head = 6, .parent = 5, .back = 7, .nodes = {6, 7, 6}},
                                     {.head = 5, .parent = 6, .back = 8, .nodes = {5, 6}},
                                     {.head = 6, .parent = 6, .back = 7, .nodes = {6}}};
    struct dcfg *graph = make_graph(loops, 3);
    struct loop_count *counts = count(graph);
    for (unsigned i = 0; i < 3; i++)
        CU_ASSERT(counts[i].depth >= 1 && counts[i].depth <= 3);
    CU_ASSERT_EQUAL(counts[0].back, 70);
    CU_ASSERT_EQUAL(counts[0].instructions, 2 * (80 + 70));
    CU_ASSERT_EQUAL(counts[2].entries, 0);
    free(counts);
    dcfg_free(graph);
}

static const struct test_case cases[] = {{"nested, with a call in the inner one", test_nested},
                                         {"loops that contradict themselves", test_unsound},
                                         {NULL, NULL}};
TEST_SUITE(cfg_loop_counts, cases)
