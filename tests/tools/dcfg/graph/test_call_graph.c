#include "tests/suites.h"
#include "tools/dcfg/graph/call_graph.h"

#include <string.h>

/*
 * Functions a to g, each one block of 10 instructions. a calls b and c, b and c call d; d and e
 * call each other; e calls f, f calls itself; g has no caller. Costs in instructions are computed
 * by hand.
 */
#define FUNCTIONS 7u

static const struct {
    uint32_t source, target; /* functions */
    uint64_t count;
} calls[] = {{0, 1, 1}, {0, 2, 2}, {1, 3, 1}, {2, 3, 2},
             {3, 4, 6}, {4, 3, 3}, {4, 5, 5}, {5, 5, 7}};

static struct dcfg *make_graph(void)
{
    struct bt_error error = {0};
    struct dcfg *graph = dcfg_new(NULL, &error);
    CU_ASSERT_EQUAL_FATAL(dcfg_add_standard_tables(graph, &error), 0);
    struct dcfg_process *process = dcfg_add_process(graph, 1, &error);
    struct dcfg_image image = {.id = 1, .load_address = 0x1000};
    uint64_t one = 1;
    CU_ASSERT_EQUAL_FATAL(dcfg_add_image(process, &image, &error), 0);
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        char name[2] = {(char)('a' + f)};
        struct dcfg_block block = {.offset = 16 * (f + 1),
                                   .count = f < 6 ? 1 : 0,
                                   .id = 4 + f,
                                   .size = 16,
                                   .instructions = 10,
                                   .last_instruction = 4};
        struct dcfg_routine routine = {.entry = 4 + f};
        struct dcfg_node node = {.id = 4 + f, .dominator = 4 + f};
        CU_ASSERT_EQUAL_FATAL(dcfg_add_block(process, &block, &error), 0);
        CU_ASSERT_EQUAL_FATAL(dcfg_add_symbol(process, block.offset, 16, name, 1, &error), 0);
        CU_ASSERT_EQUAL_FATAL(dcfg_add_node(process, &routine.nodes, &node, &error), 0);
        CU_ASSERT_EQUAL_FATAL(dcfg_add_routine(process, &routine, &error), 0);
    }
    CU_ASSERT_EQUAL_FATAL(
        dcfg_add_edge(process, 1, DCFG_START, 4, DCFG_EDGE_ENTRY, &one, 1, &error), 0);
    for (uint32_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        CU_ASSERT_EQUAL_FATAL(dcfg_add_edge(process, 2 + i, 4 + calls[i].source,
                                            4 + calls[i].target, DCFG_EDGE_DIRECT_CALL,
                                            &calls[i].count, 1, &error),
                              0);
    CU_ASSERT_EQUAL_FATAL(dcfg_seal(graph, &error), 0);
    return graph;
}

static uint64_t cost_of(const struct call_graph *graph, uint32_t caller, uint32_t callee)
{
    for (uint32_t c = graph->first_call[caller]; c < graph->first_call[caller + 1]; c++)
        if (graph->calls[c].callee == callee)
            return graph->calls[c].cost;
    return UINT64_MAX;
}

static void test_costs(void)
{
    struct bt_error error = {0};
    struct dcfg *dcfg = make_graph();
    struct names *names = names_new(dcfg->processes[0], &error);
    struct graph_profile profile;
    struct call_graph graph;
    CU_ASSERT_EQUAL_FATAL(graph_profile_make(&profile, dcfg->processes[0], &error), 0);
    CU_ASSERT_EQUAL_FATAL(call_graph_make(&graph, &profile, names, &error), 0);
    CU_ASSERT_EQUAL_FATAL(graph.function_count, FUNCTIONS);
    CU_ASSERT_EQUAL(graph.call_count, 8);
    /* d and e are a cycle: 20 instructions themselves, 10 in f */
    CU_ASSERT_EQUAL(graph.functions[3].inclusive, 30);
    CU_ASSERT_EQUAL(graph.functions[4].inclusive, 30);
    CU_ASSERT_EQUAL(cost_of(&graph, 1, 3), 10); /* one of three calls */
    CU_ASSERT_EQUAL(cost_of(&graph, 2, 3), 20);
    CU_ASSERT_EQUAL(cost_of(&graph, 3, 4), 0);
    CU_ASSERT_EQUAL(cost_of(&graph, 4, 3), 0);
    CU_ASSERT_EQUAL(cost_of(&graph, 4, 5), 10);
    CU_ASSERT_EQUAL(cost_of(&graph, 5, 5), 0);
    CU_ASSERT_EQUAL(graph.functions[1].inclusive, 20);
    CU_ASSERT_EQUAL(graph.functions[2].inclusive, 30);
    CU_ASSERT_EQUAL(graph.functions[0].inclusive, 60);
    CU_ASSERT_EQUAL(profile.total, 60);
    CU_ASSERT_EQUAL(graph.functions[6].inclusive, 0);
    static const uint64_t entered[FUNCTIONS] = {1, 1, 2, 6, 6, 12, 0};
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        CU_ASSERT_EQUAL(graph.functions[f].entered, entered[f]);
    call_graph_clear(&graph);
    graph_profile_clear(&profile);
    names_free(names);
    dcfg_free(dcfg);
}

static const struct test_case cases[] = {{"costs of calls and cycles", test_costs}, {NULL, NULL}};
TEST_SUITE(call_graph, cases)
