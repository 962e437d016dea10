#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/tools/dcfg/graph/graph_fixture.h"
#include "tools/dcfg/graph/loop_counts.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS 12u
#define EDGES  (BLOCKS * BLOCKS + 2)
#define STEPS  300u

/* A walk through one routine from block 0, again and again. */
struct walk {
    uint32_t block[STEPS];
    bool starts[STEPS]; /* the event before it is no predecessor */
    struct fixture_edge edges[EDGES];
    uint32_t edge_count;
};

static void make_walk(struct walk *walk, uint64_t *state)
{
    const uint64_t ways = 1 + random_below(state, 3);
    uint32_t to[BLOCKS][3], at = 0;
    walk->edge_count = 0;
    for (uint32_t b = 0; b < BLOCKS; b++)
        for (unsigned w = 0; w < 3; w++)
            to[b][w] = random_one_in(state, 3) || b + 1 == BLOCKS
                           ? (uint32_t)random_below(state, BLOCKS)
                           : b + 1 + (uint32_t)random_below(state, BLOCKS - 1 - b);
    for (uint32_t i = 0; i < STEPS; i++) {
        walk->starts[i] = i == 0 || random_one_in(state, 20);
        const uint32_t before = at;
        at = walk->starts[i] ? 0 : to[before][random_below(state, ways)];
        walk->block[i] = at;
        if (walk->starts[i] && i > 0)
            fixture_count(walk->edges, &walk->edge_count, EDGES, before, FIXTURE_OUTSIDE,
                          DCFG_EDGE_EXIT, 1);
        fixture_count(walk->edges, &walk->edge_count, EDGES,
                      walk->starts[i] ? FIXTURE_OUTSIDE : before, at,
                      walk->starts[i] ? DCFG_EDGE_ENTRY : DCFG_EDGE_BRANCH, 1);
    }
}

/* Blocks that lead to each block, as masks, without those that were not executed. */
static void find_predecessors(const struct walk *walk, uint32_t before[BLOCKS])
{
    memset(before, 0, BLOCKS * sizeof *before);
    for (uint32_t e = 0; e < walk->edge_count; e++)
        if (walk->edges[e].type == DCFG_EDGE_BRANCH)
            before[walk->edges[e].target] |= 1u << walk->edges[e].source;
}

/* Whether the graph becomes one node when nodes that follow themselves no longer do (T1), and nodes
 * with one predecessor become part of it (T2), until nothing changes. */
static bool is_reducible(const struct walk *walk)
{
    uint32_t before[BLOCKS], alive = 0;
    bool changes = true;
    find_predecessors(walk, before);
    for (uint32_t i = 0; i < STEPS; i++)
        alive |= 1u << walk->block[i];
    while (changes) {
        changes = false;
        for (uint32_t b = 0; b < BLOCKS; b++) {
            before[b] &= ~(1u << b);
            if (b == 0 || !(alive >> b & 1) || !before[b] || (before[b] & (before[b] - 1)))
                continue;
            for (uint32_t other = 0; other < BLOCKS; other++)
                if (before[other] >> b & 1)
                    before[other] = (before[other] & ~(1u << b)) | before[b];
            alive &= ~(1u << b);
            before[b] = 0;
            changes = true;
        }
    }
    return alive == 1;
}

/* Whether each block of the mask reaches each other one within it. */
static bool is_connected(const struct walk *walk, uint32_t mask)
{
    uint32_t before[BLOCKS];
    find_predecessors(walk, before);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        uint32_t reach = mask & 1u << b;
        for (uint32_t round = 0; reach && round < BLOCKS; round++)
            for (uint32_t other = 0; other < BLOCKS; other++)
                reach |= reach >> other & 1 ? before[other] & mask : 0;
        if ((mask >> b & 1) && reach != mask)
            return false;
    }
    return true;
}

static void check_loop(const struct walk *walk, const struct irreducible_loops *found,
                       const struct irreducible_loop *loop)
{
    uint32_t mask = 0, entries = 0, entered_at = 0;
    uint64_t entered = 0, executed[BLOCKS] = {0};
    for (uint32_t i = 0; i < loop->block_count; i++)
        mask |= 1u << found->blocks[loop->first_block + i];
    for (uint32_t i = 0; i < loop->entry_count; i++)
        entries |= 1u << found->entries[loop->first_entry + i];
    for (uint32_t i = 0; i < STEPS; i++) {
        const bool inside = mask >> walk->block[i] & 1;
        executed[walk->block[i]]++;
        if (!inside || (!walk->starts[i] && (mask >> walk->block[i - 1] & 1)))
            continue;
        entered++;
        entered_at |= 1u << walk->block[i];
    }
    CU_ASSERT_FATAL(is_connected(walk, mask));
    CU_ASSERT_FATAL(loop->entry_count >= 2);
    CU_ASSERT_EQUAL_FATAL(entries, entered_at);
    CU_ASSERT_EQUAL_FATAL(loop->entered, entered);
    CU_ASSERT_FATAL(entries >> loop->head & 1);
    for (uint32_t b = 0; b < BLOCKS; b++)
        CU_ASSERT_FATAL(!(entries >> b & 1) || executed[b] <= executed[loop->head]);
}

static void test_random(void)
{
    static struct walk walk;
    struct bt_error error = {0};
    unsigned reducible = 0;
    unsigned nested = 0;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        uint64_t state = random_seed(seed);
        struct graph_profile profile;
        struct irreducible_loops found;
        make_walk(&walk, &state);
        struct dcfg *graph = fixture_begin(BLOCKS);
        fixture_routines(graph, walk.edges, walk.edge_count);
        fixture_seal(graph, walk.edges, walk.edge_count);
        CU_ASSERT_EQUAL_FATAL(graph_profile_make(&profile, graph->processes[0], &error), 0);
        CU_ASSERT_EQUAL_FATAL(irreducible_find(&found, &profile, &error), 0);
        CU_ASSERT_EQUAL_FATAL(found.count == 0, is_reducible(&walk));
        reducible += found.count == 0;
        struct loop_count *counts = loop_counts_make(&profile, &found, &error);
        const uint32_t natural = graph->processes[0]->loop_count;
        for (uint32_t i = 0; i < found.count; i++) {
            check_loop(&walk, &found, &found.loops[i]);
            CU_ASSERT_EQUAL(counts[natural + i].entries, found.loops[i].entered);
            nested += found.loops[i].parent != DCFG_NONE;
        }
        free(counts);
        irreducible_clear(&found);
        graph_profile_clear(&profile);
        dcfg_free(graph);
    }
    CU_ASSERT(reducible > 400 && reducible < 3600);
    CU_ASSERT(nested > 40);
}

/* Block 0 leads to 1 and 2, which lead to each other; 3 in between is a natural loop: 1 -> 3 -> 2
 * ->
 * 1. Both 1 and 2 are entries. */
static void test_inner_loop(void)
{
    static const struct fixture_edge edges[] = {{FIXTURE_OUTSIDE, 0, DCFG_EDGE_ENTRY, 7},
                                                {0, 1, DCFG_EDGE_BRANCH, 4},
                                                {0, 2, DCFG_EDGE_FALL_THROUGH, 3},
                                                {1, 3, DCFG_EDGE_FALL_THROUGH, 24},
                                                {3, 3, DCFG_EDGE_BRANCH, 48},
                                                {3, 2, DCFG_EDGE_FALL_THROUGH, 24},
                                                {2, 1, DCFG_EDGE_BRANCH, 20},
                                                {2, FIXTURE_OUTSIDE, DCFG_EDGE_EXIT, 7}};
    const uint32_t count = sizeof edges / sizeof *edges;
    struct bt_error error = {0};
    struct graph_profile profile;
    struct irreducible_loops found;
    struct dcfg *graph = fixture_begin(4);
    fixture_routines(graph, edges, count);
    fixture_seal(graph, edges, count);
    CU_ASSERT_EQUAL_FATAL(graph_profile_make(&profile, graph->processes[0], &error), 0);
    CU_ASSERT_EQUAL_FATAL(irreducible_find(&found, &profile, &error), 0);
    CU_ASSERT_EQUAL_FATAL(found.count, 1);
    CU_ASSERT_EQUAL(found.loops[0].head, 2);
    CU_ASSERT_EQUAL(found.loops[0].entered, 7);
    CU_ASSERT_EQUAL(found.loops[0].block_count, 3);
    CU_ASSERT_EQUAL(found.loops[0].entry_count, 2);
    CU_ASSERT_EQUAL(found.around[0], 0);
    struct loop_count *counts = loop_counts_make(&profile, &found, &error);
    CU_ASSERT_EQUAL(counts[0].parent, 1);
    CU_ASSERT_EQUAL(counts[0].depth, 2);
    CU_ASSERT_EQUAL(counts[1].depth, 1);
    CU_ASSERT_EQUAL(loop_count_iterations(&counts[1]), 27);
    CU_ASSERT_EQUAL(counts[1].instructions, 2 * (24 + 27 + 72));
    free(counts);
    irreducible_clear(&found);
    graph_profile_clear(&profile);
    dcfg_free(graph);
}

static const struct test_case cases[] = {{"random walks against T1 and T2", test_random},
                                         {"with an inner loop", test_inner_loop},
                                         {NULL, NULL}};
TEST_SUITE(irreducible, cases)
