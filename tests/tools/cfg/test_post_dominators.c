/* Post-dominators and control dependences: by hand, and random graphs against the definitions. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/cfg/post_dominators.h"

#include <string.h>

#define NODES 12u /* with the root */
#define EDGES 24u

struct edges {
    uint32_t sources[EDGES], targets[EDGES];
    size_t count;
    bool leaves[NODES];
};

/* Post-dominators of a walk with these edges. The nodes have no code. */
static struct code_walk walk_of(const struct edges *edges, struct code_node *nodes)
{
    struct code_walk walk = {.nodes = nodes};
    struct bt_error error;
    for (uint32_t node = 0; node < NODES; node++)
        nodes[node] = (struct code_node){.leaves = edges->leaves[node]};
    CU_ASSERT_EQUAL_FATAL(
        digraph_make(&walk.graph, NODES, edges->sources, edges->targets, edges->count, &error), 0);
    return walk;
}

static void add(struct edges *edges, uint32_t from, uint32_t to)
{
    edges->sources[edges->count] = from;
    edges->targets[edges->count++] = to;
}

/* 1 decides between 2 and 3, which meet in 4; 4 repeats from 1, or leaves through 5. */
static void test_by_hand(void)
{
    struct edges edges = {.count = 0, .leaves = {[5] = true}};
    struct code_node nodes[NODES];
    struct post_dominators made;
    struct bt_error error;
    add(&edges, 0, 1);
    add(&edges, 1, 2);
    add(&edges, 1, 3);
    add(&edges, 2, 4);
    add(&edges, 3, 4);
    add(&edges, 4, 1);
    add(&edges, 4, 5);
    struct code_walk walk = walk_of(&edges, nodes);
    CU_ASSERT_EQUAL_FATAL(post_dominators_find(&made, &walk, &error), 0);
    CU_ASSERT_EQUAL(post_dominators_next(&made, 1), 4);
    CU_ASSERT_EQUAL(post_dominators_next(&made, 2), 4);
    CU_ASSERT_EQUAL(post_dominators_next(&made, 4), 5);
    CU_ASSERT_EQUAL(post_dominators_next(&made, 5), POST_DOMINATORS_EXIT);
    CU_ASSERT(post_dominators_decide(&made, 1, 2));
    CU_ASSERT(post_dominators_decide(&made, 1, 3));
    CU_ASSERT(!post_dominators_decide(&made, 1, 4));
    CU_ASSERT(post_dominators_decide(&made, 4, 1));
    CU_ASSERT(post_dominators_decide(&made, 4, 4)); /* whether it is repeated */
    CU_ASSERT(!post_dominators_decide(&made, 4, 5));
    post_dominators_clear(&made);
    digraph_clear(&walk.graph);
}

/* --- random graphs -----------------------------------------------------------------------------
 */

/* Successors of a node, the exit among them. */
struct twin {
    bool leads[NODES][NODES];
};

/* Marks what is reached from a node without passing through another one. */
static void reach(const struct twin *twin, uint32_t from, uint32_t without, bool *marks)
{
    if (from == without || marks[from])
        return;
    marks[from] = true;
    for (uint32_t to = 0; to < NODES && from != POST_DOMINATORS_EXIT; to++)
        if (twin->leads[from][to])
            reach(twin, to, without, marks);
}

static bool post_dominates(const struct twin *twin, uint32_t a, uint32_t b)
{
    bool marks[NODES] = {false};
    reach(twin, b, a, marks);
    return !marks[POST_DOMINATORS_EXIT];
}

static struct twin twin_of(const struct edges *edges)
{
    struct twin twin = {.leads = {{false}}};
    bool is_endless[NODES] = {false};
    for (size_t i = 0; i < edges->count; i++)
        twin.leads[edges->sources[i]][edges->targets[i]] = true;
    for (uint32_t node = 1; node < NODES; node++) {
        bool is_last = true;
        for (uint32_t to = 0; to < NODES; to++)
            is_last &= !twin.leads[node][to];
        twin.leads[node][POST_DOMINATORS_EXIT] = edges->leaves[node] || is_last;
    }
    for (uint32_t node = 1; node < NODES; node++)
        is_endless[node] = post_dominates(&twin, DIGRAPH_NONE, node);
    for (uint32_t node = 1; node < NODES; node++)
        twin.leads[node][POST_DOMINATORS_EXIT] |= is_endless[node];
    return twin;
}

static bool decides(const struct twin *twin, uint32_t branch, uint32_t node)
{
    bool found = false;
    for (uint32_t to = 0; to < NODES; to++)
        found |=
            twin->leads[branch][to] && to != POST_DOMINATORS_EXIT && post_dominates(twin, node, to);
    return found && (node == branch || !post_dominates(twin, node, branch));
}

/* Whether the nearest post-dominator is one that all others of the node post-dominate. */
static bool is_nearest(const struct twin *twin, uint32_t node, uint32_t nearest)
{
    if (nearest != POST_DOMINATORS_EXIT && !post_dominates(twin, nearest, node))
        return false;
    for (uint32_t other = 1; other < NODES; other++)
        if (other != node && other != nearest && post_dominates(twin, other, node) &&
            (nearest == POST_DOMINATORS_EXIT || !post_dominates(twin, other, nearest)))
            return false;
    return true;
}

static void test_random_graphs(void)
{
    unsigned wrong = 0, decisions = 0;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        uint64_t random = random_seed(seed);
        struct edges edges = {.count = 0};
        struct code_node nodes[NODES];
        struct post_dominators made;
        struct bt_error error;
        add(&edges, 0, 1);
        while (edges.count < EDGES - random_below(&random, 12))
            add(&edges, 1 + (uint32_t)random_below(&random, NODES - 1),
                1 + (uint32_t)random_below(&random, NODES - 1));
        for (uint32_t node = 1; node < NODES; node++)
            edges.leaves[node] = random_below(&random, 8) == 0;
        struct code_walk walk = walk_of(&edges, nodes);
        const struct twin twin = twin_of(&edges);
        CU_ASSERT_EQUAL_FATAL(post_dominators_find(&made, &walk, &error), 0);
        for (uint32_t a = 1; a < NODES; a++) {
            wrong += !is_nearest(&twin, a, post_dominators_next(&made, a));
            for (uint32_t b = 1; b < NODES; b++) {
                wrong += decides(&twin, a, b) != post_dominators_decide(&made, a, b);
                decisions += decides(&twin, a, b);
            }
        }
        post_dominators_clear(&made);
        digraph_clear(&walk.graph);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(decisions > 1000);
}

static const struct test_case cases[] = {
    {"by hand", test_by_hand}, {"random graphs", test_random_graphs}, {NULL, NULL}};
TEST_SUITE(post_dominators, cases)
