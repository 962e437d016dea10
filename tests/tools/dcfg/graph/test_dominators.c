/* Dominators and natural loops against their definitions. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/dcfg/graph/loops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX 24u
#define EDGES_MAX 80u

struct loop_graph {
    uint32_t nodes;
    uint32_t edges;
    uint32_t sources[EDGES_MAX];
    uint32_t targets[EDGES_MAX];
};

/* Mostly short edges, forward and back, so that nodes have dominators. */
static struct loop_graph random_shape(uint64_t seed)
{
    uint64_t random = random_seed(seed);
    struct loop_graph shape = {.nodes = 1 + (uint32_t)random_below(&random, NODES_MAX)};
    shape.edges = (uint32_t)random_below(&random, shape.nodes * 2 + 2);
    for (uint32_t e = 0; e < shape.edges; e++) {
        uint32_t source = (uint32_t)random_below(&random, shape.nodes);
        uint32_t target = (uint32_t)random_below(&random, shape.nodes);
        if (!random_one_in(&random, 4))
            target = (source + 1 + (uint32_t)random_below(&random, 2)) % shape.nodes;
        shape.sources[e] = source;
        shape.targets[e] = target;
    }
    return shape;
}

/* Marks the nodes that can be reached from a node, forward or back, without passing another. */
static void mark(const struct loop_graph *shape, uint32_t from, uint32_t without, bool back,
                 bool *marks)
{
    const uint32_t *sources = back ? shape->targets : shape->sources;
    const uint32_t *targets = back ? shape->sources : shape->targets;
    memset(marks, 0, NODES_MAX);
    if (from == without)
        return;
    marks[from] = true;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t e = 0; e < shape->edges; e++)
            if (marks[sources[e]] && !marks[targets[e]] && targets[e] != without) {
                marks[targets[e]] = true;
                more = true;
            }
    }
}

/* twin[a][b]: a dominates b. */
static void slow_dominators(const struct loop_graph *shape, bool twin[NODES_MAX][NODES_MAX],
                            bool reached[NODES_MAX])
{
    mark(shape, 0, DIGRAPH_NONE, false, reached);
    for (uint32_t a = 0; a < shape->nodes; a++) {
        bool without[NODES_MAX];
        mark(shape, 0, a, false, without);
        for (uint32_t b = 0; b < shape->nodes; b++)
            twin[a][b] = reached[a] && reached[b] && !without[b];
    }
}

static bool dominators_agree(const struct loop_graph *shape, const struct dominators *dominators,
                             bool twin[NODES_MAX][NODES_MAX], const bool *reached)
{
    for (uint32_t b = 0; b < shape->nodes; b++) {
        if (dominators_reached(dominators, b) != reached[b])
            return false;
        for (uint32_t a = 0; a < shape->nodes && reached[b]; a++) {
            if (reached[a] && dominates(dominators, a, b) != twin[a][b])
                return false;
            /* all other dominators dominate the immediate one */
            if (b != 0 && a != b && twin[a][b] && !twin[a][dominators->immediate[b]])
                return false;
        }
        if (reached[b] && b != 0 && dominators->immediate[b] == b)
            return false;
        if (reached[b] && dominators->preorder[dominators->begin[b]] != b)
            return false;
    }
    return dominators->immediate[0] == 0;
}

/* The loop of a head by definition; returns the number of its back edges. */
static uint32_t slow_loop(const struct loop_graph *shape, bool twin[NODES_MAX][NODES_MAX],
                          uint32_t head, bool *nodes, bool *sources)
{
    uint32_t count = 0;
    memset(nodes, 0, NODES_MAX);
    memset(sources, 0, NODES_MAX);
    for (uint32_t e = 0; e < shape->edges; e++) {
        bool marks[NODES_MAX];
        if (shape->targets[e] != head || !twin[head][shape->sources[e]])
            continue;
        count += !sources[shape->sources[e]];
        sources[shape->sources[e]] = true;
        mark(shape, shape->sources[e], head, true, marks);
        for (uint32_t n = 0; n < shape->nodes; n++)
            nodes[n] |= (marks[n] && twin[0][n]) || n == head;
    }
    return count;
}

static bool loop_agrees(const struct loop_graph *shape, const struct loops *loops, uint32_t l,
                        const bool *nodes, const bool *sources, uint32_t source_count)
{
    const struct loop *loop = &loops->loops[l];
    uint32_t node_count = 0;
    for (uint32_t n = 0; n < shape->nodes; n++)
        node_count += nodes[n];
    if (loop->node_count != node_count || loop->back_edge_count != source_count)
        return false;
    for (uint32_t i = 0; i < node_count; i++)
        if (!nodes[loops->nodes[loop->first_node + i]])
            return false;
    for (uint32_t i = 0; i < source_count; i++)
        if (!sources[loops->back_edges[loop->first_back_edge + i]])
            return false;
    /* the parent is the smallest other loop around the head */
    uint32_t parent = LOOPS_NONE;
    for (uint32_t other = 0; other < loops->count; other++) {
        const struct loop *around = &loops->loops[other];
        for (uint32_t i = 0; i < around->node_count && other != l; i++)
            if (loops->nodes[around->first_node + i] == loop->head &&
                (parent == LOOPS_NONE || around->node_count < loops->loops[parent].node_count))
                parent = other;
    }
    return parent == loop->parent;
}

static bool loops_agree(const struct loop_graph *shape, const struct loops *loops,
                        bool twin[NODES_MAX][NODES_MAX])
{
    uint32_t count = 0;
    for (uint32_t head = 0; head < shape->nodes; head++) {
        bool nodes[NODES_MAX];
        bool sources[NODES_MAX];
        uint32_t source_count = slow_loop(shape, twin, head, nodes, sources);
        uint32_t l = 0;
        while (l < loops->count && loops->loops[l].head != head)
            l++;
        if ((source_count > 0) != (l < loops->count))
            return false;
        if (source_count == 0)
            continue;
        count++;
        if (!loop_agrees(shape, loops, l, nodes, sources, source_count))
            return false;
    }
    return count == loops->count;
}

static void test_twins(void)
{
    for (uint64_t seed = 0; seed < 20000; seed++) {
        static bool twin[NODES_MAX][NODES_MAX];
        bool reached[NODES_MAX];
        const struct loop_graph shape = random_shape(seed);
        struct digraph graph;
        struct dominators dominators;
        struct loops loops;
        CU_ASSERT_EQUAL_FATAL(
            digraph_make(&graph, shape.nodes, shape.sources, shape.targets, shape.edges, NULL), 0);
        CU_ASSERT_EQUAL_FATAL(dominators_find(&dominators, &graph, 0, NULL), 0);
        CU_ASSERT_EQUAL_FATAL(loops_find(&loops, &graph, &dominators, NULL), 0);
        slow_dominators(&shape, twin, reached);
        bool good = dominators_agree(&shape, &dominators, twin, reached);
        bool good_loops = loops_agree(&shape, &loops, twin);
        loops_clear(&loops);
        dominators_clear(&dominators);
        digraph_clear(&graph);
        if (!good || !good_loops) {
            fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed,
                    good ? "loops" : "dominators");
            CU_FAIL("dominators and loops of a random graph match their definitions");
            return;
        }
    }
}

/* Example in section 2.15: loops 145 and 137 within loop 133. */
static void test_specification(void)
{
    static const uint32_t ways[][2] = {{0, 133},   {133, 134}, {134, 135}, {135, 136}, {136, 137},
                                       {137, 138}, {138, 137}, {138, 139}, {139, 133}, {134, 145},
                                       {145, 145}, {145, 146}, {146, 147}, {147, 133}};
    enum { WAYS = sizeof ways / sizeof *ways };
    uint32_t sources[WAYS];
    uint32_t targets[WAYS];
    for (size_t i = 0; i < WAYS; i++) {
        sources[i] = ways[i][0];
        targets[i] = ways[i][1];
    }
    struct digraph graph;
    struct dominators dominators;
    struct loops loops;
    CU_ASSERT_EQUAL_FATAL(digraph_make(&graph, 148, sources, targets, WAYS, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(dominators_find(&dominators, &graph, 0, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(loops_find(&loops, &graph, &dominators, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(loops.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct loop *loop = &loops.loops[i];
        CU_ASSERT_EQUAL(loop->node_count, loop->head == 133 ? 10 : loop->head == 145 ? 1 : 2);
        CU_ASSERT_EQUAL(loop->back_edge_count, loop->head == 133 ? 2 : 1);
        CU_ASSERT_EQUAL(loop->parent, loop->head == 133 ? LOOPS_NONE : 2);
    }
    loops_clear(&loops);
    dominators_clear(&dominators);
    digraph_clear(&graph);
}

/* A chain of many nodes, with back edges from the second half that make deeply nested loops. The
 * time must not grow with the sum of their sizes. */
static void test_deep(void)
{
    enum { NODES = 400000, HALF = NODES / 2, EDGES = NODES - 1 + HALF };
    uint32_t *sources = malloc(EDGES * sizeof *sources);
    uint32_t *targets = malloc(EDGES * sizeof *targets);
    for (uint32_t n = 0; n < NODES - 1; n++) {
        sources[n] = n;
        targets[n] = n + 1;
    }
    for (uint32_t n = 0; n < HALF; n++) {
        sources[NODES - 1 + n] = HALF + n;
        targets[NODES - 1 + n] = HALF - n;
    }
    struct digraph graph;
    struct dominators dominators;
    struct loops loops;
    CU_ASSERT_EQUAL_FATAL(digraph_make(&graph, NODES, sources, targets, EDGES, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(dominators_find(&dominators, &graph, 0, NULL), 0);
    CU_ASSERT_EQUAL(dominators.immediate[NODES - 1], NODES - 2);
    CU_ASSERT_EQUAL_FATAL(loops_find(&loops, &graph, &dominators, NULL), 0);
    CU_ASSERT_EQUAL(loops.count, HALF);
    CU_ASSERT_EQUAL(loops.loops[HALF - 1].node_count, NODES - 1);
    CU_ASSERT_EQUAL(loops.loops[0].node_count, 1);
    loops_clear(&loops);
    dominators_clear(&dominators);
    digraph_clear(&graph);
    free(sources);
    free(targets);
}

static const struct test_case cases[] = {{"random graphs and their definitions", test_twins},
                                         {"the example of section 2.15", test_specification},
                                         {"deep nesting", test_deep},
                                         {NULL, NULL}};
TEST_SUITE(dominators, cases)
