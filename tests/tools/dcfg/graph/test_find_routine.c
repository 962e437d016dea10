#include "tests/suites.h"
#include "tools/dcfg/graph/find_routine.h"

#include <string.h>

/* Routines of one block each, at these symbols; block and routine n are at 0x1010 + 16 * n. */
static const char *const symbols[] = {"main", "copy", "copy", "copy_all", "main", NULL, "big"};
#define ROUTINES 7u

static struct dcfg *make_graph(void)
{
    struct bt_error error = {0};
    struct dcfg *graph = dcfg_new(NULL, &error);
    CU_ASSERT_EQUAL_FATAL(dcfg_add_standard_tables(graph, &error), 0);
    struct dcfg_process *process = dcfg_add_process(graph, 1, &error);
    struct dcfg_image image = {.id = 1, .load_address = 0x1000};
    CU_ASSERT_EQUAL_FATAL(dcfg_add_image(process, &image, &error), 0);
    for (uint32_t i = 0; i < ROUTINES; i++) {
        struct dcfg_block block = {.offset = 0x10 + 16 * i,
                                   .count = 1,
                                   .id = 4 + i,
                                   .size = 8,
                                   .instructions = 2,
                                   .last_instruction = 4};
        struct dcfg_routine routine = {.entry = 4 + i};
        struct dcfg_node node = {.id = 4 + i, .dominator = 4 + i};
        CU_ASSERT_EQUAL_FATAL(dcfg_add_block(process, &block, &error), 0);
        /* the second main and big begin within their symbols */
        uint64_t offset = block.offset - (i == 4 || i == 6 ? 4 : 0);
        if (symbols[i])
            CU_ASSERT_EQUAL_FATAL(
                dcfg_add_symbol(process, offset, 16, symbols[i], strlen(symbols[i]), &error), 0);
        CU_ASSERT_EQUAL_FATAL(dcfg_add_node(process, &routine.nodes, &node, &error), 0);
        CU_ASSERT_EQUAL_FATAL(dcfg_add_routine(process, &routine, &error), 0);
    }
    CU_ASSERT_EQUAL_FATAL(dcfg_seal(graph, &error), 0);
    return graph;
}

static void test_names(void)
{
    static const struct {
        const char *name;
        int routine;
        const char *complaint;
    } rows[] = {
        {"main", 0, NULL},
        {"main+0x4", 4, NULL},
        {"big", 6, NULL},
        {"big+0x4", 6, NULL},
        {"0x1060", 5, NULL},
        {"4128", 1, NULL},
        {"copy_all", 3, NULL},
        {"copy", -1, "2 routines are called 'copy', say which: copy (0x1020), copy (0x1030)"},
        {"mian", -1, "no routine is called 'mian'; near it: main (0x1010), main+0x4 (0x1050)"},
        {"_all", -1, "no routine is called '_all'; near it: copy_all (0x1040)"},
        {"big+4", -1, "no routine is called 'big+4'; near it: big+0x4 (0x1070)"},
        {"0x1061", -1, "no routine has the name '0x1061' or a similar one"},
        {"", -1, "no routine has the name '' or a similar one"}};
    struct bt_error error = {0};
    struct dcfg *graph = make_graph();
    struct names *names = names_new(graph->processes[0], &error);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t routine;
        int result = find_routine(&routine, graph->processes[0], names, rows[i].name, &error);
        CU_ASSERT_EQUAL(result, rows[i].complaint ? BT_USAGE : 0);
        if (rows[i].complaint)
            CU_ASSERT_STRING_EQUAL(error.message, rows[i].complaint);
        if (rows[i].complaint && strcmp(error.message, rows[i].complaint) != 0)
            puts(error.message);
        if (!rows[i].complaint)
            CU_ASSERT_EQUAL(routine, (uint32_t)rows[i].routine);
    }
    names_free(names);
    dcfg_free(graph);
}

static void test_no_routines(void)
{
    struct bt_error error = {0};
    uint32_t routine;
    struct dcfg *graph = dcfg_new(NULL, &error);
    struct dcfg_process *process = dcfg_add_process(graph, 1, &error);
    CU_ASSERT_EQUAL_FATAL(dcfg_seal(graph, &error), 0);
    struct names *names = names_new(process, &error);
    CU_ASSERT_EQUAL(find_routine(&routine, process, names, "main", &error), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, "there are no routines in this graph");
    names_free(names);
    dcfg_free(graph);
}

static const struct test_case cases[] = {
    {"names of routines", test_names}, {"no routines", test_no_routines}, {NULL, NULL}};
TEST_SUITE(find_routine, cases)
