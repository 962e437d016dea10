/* Routines: the rules of section 2.14, on random graphs. */
#include "formats/dcfg/dcfg_edge_type.h"
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/dcfg/graph/routines.h"

#include <stdio.h>
#include <string.h>

#define NODES_MAX 24u
#define EDGES_MAX 90u

struct routine_graph {
    struct routines_graph graph;
    uint32_t sources[EDGES_MAX];
    uint32_t targets[EDGES_MAX];
    uint8_t types[EDGES_MAX];
    uint32_t images[NODES_MAX];
};

static void add(struct routine_graph *shape, uint32_t source, uint32_t target, uint8_t type)
{
    shape->sources[shape->graph.edges] = source;
    shape->targets[shape->graph.edges] = target;
    shape->types[shape->graph.edges++] = type;
}

static void make_shape(struct routine_graph *shape, uint64_t seed)
{
    static const uint8_t inner[] = {DCFG_EDGE_FALL_THROUGH, DCFG_EDGE_BRANCH,
                                    DCFG_EDGE_DIRECT_CONDITIONAL_BRANCH, DCFG_EDGE_CALL_BYPASS};
    static const uint8_t outer[] = {DCFG_EDGE_DIRECT_CALL,    DCFG_EDGE_RETURN,
                                    DCFG_EDGE_RETURN,         DCFG_EDGE_SYSTEM_CALL,
                                    DCFG_EDGE_CONTEXT_CHANGE, DCFG_EDGE_CONTEXT_CHANGE_RETURN};
    uint64_t random = random_seed(seed);
    uint32_t nodes = 1 + (uint32_t)random_below(&random, NODES_MAX);
    memset(shape, 0, sizeof *shape);
    shape->graph = (struct routines_graph){.nodes = nodes,
                                           .sources = shape->sources,
                                           .targets = shape->targets,
                                           .types = shape->types};
    if (random_one_in(&random, 3))
        shape->graph.images = shape->images;
    for (uint32_t n = 0; n < nodes; n++)
        shape->images[n] = n * 3 / NODES_MAX;
    if (!random_one_in(&random, 10))
        add(shape, ROUTINES_OUTSIDE, (uint32_t)random_below(&random, nodes), DCFG_EDGE_ENTRY);
    size_t edges = random_below(&random, nodes * 2 + 10);
    for (size_t e = 0; e < edges; e++) {
        uint32_t source = (uint32_t)random_below(&random, nodes);
        uint32_t target = (source + 1 + (uint32_t)random_below(&random, 2)) % nodes;
        if (random_one_in(&random, 4))
            target = (uint32_t)random_below(&random, nodes);
        if (random_one_in(&random, 5))
            add(shape, source, target, outer[random_below(&random, sizeof outer)]);
        else
            add(shape, source, target, inner[random_below(&random, sizeof inner)]);
    }
    add(shape, (uint32_t)random_below(&random, nodes), ROUTINES_OUTSIDE, DCFG_EDGE_EXIT);
}

static bool same_image(const struct routine_graph *shape, size_t e)
{
    return !shape->graph.images ||
           shape->images[shape->sources[e]] == shape->images[shape->targets[e]];
}

/* Whether an edge is followed within routines. */
static bool followed(const struct routine_graph *shape, size_t e)
{
    return shape->sources[e] != ROUTINES_OUTSIDE && shape->targets[e] != ROUTINES_OUTSIDE &&
           dcfg_edge_type_is_within_routine(shape->types[e]) && same_image(shape, e);
}

/* Marks what the entry reaches within the routine without passing a node (ROUTINES_OUTSIDE: none).
 */
static void mark(const struct routine_graph *shape, const struct routines *routines, uint32_t r,
                 uint32_t without, bool marks[NODES_MAX])
{
    memset(marks, 0, NODES_MAX);
    uint32_t entry = routines->routines[r].entry;
    if (entry == without)
        return;
    marks[entry] = true;
    for (bool more = true; more;) {
        more = false;
        for (size_t e = 0; e < shape->graph.edges; e++) {
            uint32_t target = shape->targets[e];
            if (!followed(shape, e) || !marks[shape->sources[e]] || marks[target] ||
                target == without || routines->routine_of[target] != r)
                continue;
            marks[target] = true;
            more = true;
        }
    }
}

/* A routine has exactly the nodes that its entry reaches. */
static const char *wrong_nodes(const struct routine_graph *shape, const struct routines *routines,
                               uint32_t r)
{
    const struct routine *routine = &routines->routines[r];
    bool marks[NODES_MAX];
    uint32_t count = 0;
    mark(shape, routines, r, ROUTINES_OUTSIDE, marks);
    for (uint32_t n = 0; n < shape->graph.nodes; n++) {
        count += marks[n];
        if (marks[n] != (routines->routine_of[n] == r))
            return "a node is not reached from its entry";
        if (marks[n] && shape->graph.images && shape->images[n] != shape->images[routine->entry])
            return "a node is in another image";
    }
    for (uint32_t i = 0; i < routine->node_count; i++)
        if (!marks[routines->nodes[routine->first_node + i]])
            return "a foreign node";
    return count == routine->node_count ? NULL : "too many nodes, or too few";
}

/* Immediate dominators within the routine: every other dominator dominates them. */
static const char *wrong_dominators(const struct routine_graph *shape,
                                    const struct routines *routines, uint32_t r)
{
    const struct routine *routine = &routines->routines[r];
    bool without[NODES_MAX][NODES_MAX];
    for (uint32_t n = 0; n < shape->graph.nodes; n++)
        mark(shape, routines, r, n, without[n]);
    for (uint32_t i = 0; i < routine->node_count; i++) {
        uint32_t node = routines->nodes[routine->first_node + i];
        uint32_t dominator = routines->dominator[node];
        if (node == routine->entry) {
            if (dominator != node)
                return "an entry's dominator";
            continue;
        }
        if (dominator == node || without[dominator][node])
            return "a dominator that does not dominate";
        for (uint32_t n = 0; n < shape->graph.nodes; n++)
            if (n != node && routines->routine_of[n] == r && !without[n][node] &&
                without[n][dominator])
                return "a dominator that is not immediate";
    }
    return NULL;
}

static const char *wrong_exits(const struct routine_graph *shape, const struct routines *routines,
                               uint32_t r)
{
    const struct routine *routine = &routines->routines[r];
    bool leaves[NODES_MAX] = {false};
    uint32_t count = 0;
    for (size_t e = 0; e < shape->graph.edges; e++)
        if (shape->sources[e] != ROUTINES_OUTSIDE && routines->routine_of[shape->sources[e]] == r)
            leaves[shape->sources[e]] |= shape->targets[e] == ROUTINES_OUTSIDE ||
                                         routines->routine_of[shape->targets[e]] != r;
    for (uint32_t n = 0; n < shape->graph.nodes; n++)
        count += leaves[n];
    for (uint32_t i = 0; i < routine->exit_count; i++)
        if (!leaves[routines->exits[routine->first_exit + i]])
            return "an exit that does not leave";
    return count == routine->exit_count ? NULL : "too many exits, or too few";
}

static const char *wrong_loops(const struct routines *routines, uint32_t r)
{
    const struct routine *routine = &routines->routines[r];
    for (uint32_t i = 0; i < routine->loop_count; i++) {
        const struct loop *loop = &routines->loops.loops[routine->first_loop + i];
        for (uint32_t n = 0; n < loop->node_count; n++)
            if (routines->routine_of[routines->loops.nodes[loop->first_node + n]] != r)
                return "a loop with a foreign node";
        if (loop->parent != LOOPS_NONE &&
            (loop->parent < routine->first_loop ||
             loop->parent >= routine->first_loop + routine->loop_count))
            return "a parent in another routine";
    }
    return NULL;
}

/* Edges from outside a routine lead to its entry only. */
static const char *wrong_entries(const struct routine_graph *shape, const struct routines *routines)
{
    for (size_t e = 0; e < shape->graph.edges; e++) {
        uint32_t source = shape->sources[e];
        uint32_t target = shape->targets[e];
        if (target == ROUTINES_OUTSIDE)
            continue;
        bool entry = routines->routines[routines->routine_of[target]].entry == target;
        bool back = shape->types[e] == DCFG_EDGE_RETURN ||
                    shape->types[e] == DCFG_EDGE_CONTEXT_CHANGE_RETURN;
        if (!entry && !back && !followed(shape, e))
            return "a call to a node that is no entry";
        if (!entry && followed(shape, e) &&
            routines->routine_of[source] != routines->routine_of[target])
            return "a jump into a routine";
    }
    for (uint32_t r = 1; r < routines->count; r++)
        if (routines->routines[r].entry <= routines->routines[r - 1].entry)
            return "the order of entries";
    return NULL;
}

static const char *wrong(const struct routine_graph *shape, const struct routines *routines)
{
    uint32_t nodes = 0;
    uint32_t loops = 0;
    const char *what = wrong_entries(shape, routines);
    for (uint32_t r = 0; r < routines->count && !what; r++) {
        nodes += routines->routines[r].node_count;
        loops += routines->routines[r].loop_count;
        what = wrong_nodes(shape, routines, r);
        if (!what)
            what = wrong_dominators(shape, routines, r);
        if (!what)
            what = wrong_exits(shape, routines, r);
        if (!what)
            what = wrong_loops(routines, r);
    }
    if (!what && (nodes != shape->graph.nodes || loops != routines->loops.count))
        what = "nodes or loops that are in no routine";
    return what;
}

static void test_rules(void)
{
    for (uint64_t seed = 0; seed < 20000; seed++) {
        struct routine_graph shape;
        struct routines routines;
        make_shape(&shape, seed);
        CU_ASSERT_EQUAL_FATAL(routines_find(&routines, &shape.graph, NULL), 0);
        const char *what = wrong(&shape, &routines);
        routines_clear(&routines);
        if (what) {
            fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, what);
            CU_FAIL("the routines of a random graph keep the rules");
            return;
        }
    }
}

/* A call with its bypass: the code after it belongs to the caller. A tail that two routines jump to
 * is a separate routine. */
static void test_calls_and_tails(void)
{
    struct routine_graph shape = {.graph = {.nodes = 5}};
    shape.graph.sources = shape.sources;
    shape.graph.targets = shape.targets;
    shape.graph.types = shape.types;
    add(&shape, ROUTINES_OUTSIDE, 0, DCFG_EDGE_ENTRY);
    add(&shape, 0, 2, DCFG_EDGE_DIRECT_CALL);
    add(&shape, 0, 1, DCFG_EDGE_CALL_BYPASS);
    add(&shape, 2, 4, DCFG_EDGE_DIRECT_UNCONDITIONAL_BRANCH);
    add(&shape, 4, 1, DCFG_EDGE_RETURN);
    add(&shape, 1, 3, DCFG_EDGE_INDIRECT_CALL);
    add(&shape, 3, 4, DCFG_EDGE_FALL_THROUGH);
    add(&shape, 4, ROUTINES_OUTSIDE, DCFG_EDGE_EXIT);
    struct routines routines;
    CU_ASSERT_EQUAL_FATAL(routines_find(&routines, &shape.graph, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(routines.count, 4);
    CU_ASSERT_EQUAL(routines.routine_of[1], routines.routine_of[0]);
    CU_ASSERT_EQUAL(routines.dominator[1], 0);
    CU_ASSERT_EQUAL(routines.routines[routines.routine_of[4]].entry, 4);
    CU_ASSERT_EQUAL(routines.routines[0].exit_count, 2);
    routines_clear(&routines);
}

/* The stream begins in a callee: the target of its return is an entry, the code after that is not.
 */
static void test_return_without_call(void)
{
    struct routine_graph shape = {.graph = {.nodes = 3}};
    shape.graph.sources = shape.sources;
    shape.graph.targets = shape.targets;
    shape.graph.types = shape.types;
    add(&shape, ROUTINES_OUTSIDE, 1, DCFG_EDGE_ENTRY);
    add(&shape, 1, 2, DCFG_EDGE_RETURN);
    add(&shape, 2, 0, DCFG_EDGE_BRANCH);
    add(&shape, 0, ROUTINES_OUTSIDE, DCFG_EDGE_EXIT);
    struct routines routines;
    CU_ASSERT_EQUAL_FATAL(routines_find(&routines, &shape.graph, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(routines.count, 2);
    CU_ASSERT_EQUAL(routines.routines[routines.routine_of[0]].entry, 2);
    routines_clear(&routines);
}

static const struct test_case cases[] = {{"the rules, on random graphs", test_rules},
                                         {"calls and shared tails", test_calls_and_tails},
                                         {"a return without its call", test_return_without_call},
                                         {NULL, NULL}};
TEST_SUITE(routines, cases)
