#include "tests/tools/dcfg/graph/graph_fixture.h"

#include "tools/dcfg/graph/routines.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>

struct dcfg *fixture_begin(uint32_t blocks)
{
    struct bt_error error = {0};
    struct dcfg *graph = dcfg_new(NULL, &error);
    CU_ASSERT_EQUAL_FATAL(dcfg_add_standard_tables(graph, &error), 0);
    struct dcfg_process *process = dcfg_add_process(graph, 1, &error);
    const struct dcfg_image image = {.id = 1, .load_address = 0x1000};
    CU_ASSERT_EQUAL_FATAL(dcfg_add_image(process, &image, &error), 0);
    for (uint32_t b = 0; b < blocks; b++) {
        const struct dcfg_block block = {.offset = b * 16,
                                         .count = DCFG_COUNT_UNKNOWN,
                                         .id = FIXTURE_ID + b,
                                         .size = 8,
                                         .instructions = 2,
                                         .last_instruction = 4};
        CU_ASSERT_EQUAL_FATAL(dcfg_add_block(process, &block, &error), 0);
    }
    return graph;
}

static void add_loop(struct dcfg_process *process, struct dcfg_range *loops,
                     const struct loops *found, uint32_t number)
{
    const struct loop *loop = &found->loops[number];
    struct dcfg_loop row = {.head = FIXTURE_ID + loop->head};
    struct bt_error error = {0};
    for (uint32_t n = 0; n < loop->node_count; n++)
        CU_ASSERT_EQUAL_FATAL(dcfg_add_id(process, &row.nodes,
                                          FIXTURE_ID + found->nodes[loop->first_node + n], &error),
                              0);
    CU_ASSERT_EQUAL_FATAL(dcfg_add_loop(process, loops, &row, &error), 0);
}

static void add_routines(struct dcfg_process *process, const struct routines *routines)
{
    struct bt_error error = {0};
    for (uint32_t r = 0; r < routines->count; r++) {
        const struct routine *routine = &routines->routines[r];
        struct dcfg_routine row = {.entry = FIXTURE_ID + routine->entry};
        for (uint32_t n = 0; n < routine->node_count; n++) {
            const uint32_t block = routines->nodes[routine->first_node + n];
            const struct dcfg_node node = {.id = FIXTURE_ID + block,
                                           .dominator = FIXTURE_ID + routines->dominator[block]};
            CU_ASSERT_EQUAL_FATAL(dcfg_add_node(process, &row.nodes, &node, &error), 0);
        }
        for (uint32_t l = 0; l < routine->loop_count; l++)
            add_loop(process, &row.loops, &routines->loops, routine->first_loop + l);
        CU_ASSERT_EQUAL_FATAL(dcfg_add_routine(process, &row, &error), 0);
    }
}

void fixture_routines(struct dcfg *graph, const struct fixture_edge *edges, uint32_t count)
{
    uint32_t *ends = malloc((2 * (size_t)count + 1) * sizeof *ends);
    uint8_t *types = malloc((size_t)count + 1);
    struct bt_error error = {0};
    struct routines routines;
    CU_ASSERT_FATAL(ends && types);
    for (uint32_t e = 0; e < count; e++) {
        ends[e] = edges[e].source;
        ends[count + e] = edges[e].target;
        types[e] = edges[e].type;
    }
    const struct routines_graph input = {.nodes = graph->processes[0]->block_count,
                                         .edges = count,
                                         .sources = ends,
                                         .targets = ends + count,
                                         .types = types};
    CU_ASSERT_EQUAL_FATAL(routines_find(&routines, &input, &error), 0);
    add_routines(graph->processes[0], &routines);
    routines_clear(&routines);
    free(ends);
    free(types);
}

void fixture_seal(struct dcfg *graph, const struct fixture_edge *edges, uint32_t count)
{
    struct bt_error error = {0};
    for (uint32_t e = 0; e < count; e++) {
        const uint32_t source = edges[e].source;
        const uint32_t target = edges[e].target;
        CU_ASSERT_EQUAL_FATAL(
            dcfg_add_edge(graph->processes[0], e + 1,
                          source == FIXTURE_OUTSIDE ? DCFG_START : FIXTURE_ID + source,
                          target == FIXTURE_OUTSIDE ? DCFG_END : FIXTURE_ID + target, edges[e].type,
                          &edges[e].count, 1, &error),
            0);
    }
    CU_ASSERT_EQUAL_FATAL(dcfg_seal(graph, &error), 0);
}

void fixture_count(struct fixture_edge *edges, uint32_t *count, uint32_t capacity, uint32_t source,
                   uint32_t target, uint8_t type, uint64_t times)
{
    uint32_t e = 0;
    while (e < *count &&
           (edges[e].source != source || edges[e].target != target || edges[e].type != type))
        e++;
    CU_ASSERT_FATAL(e < capacity);
    if (e == *count)
        edges[(*count)++] = (struct fixture_edge){source, target, type, 0};
    edges[e].count += times;
}
