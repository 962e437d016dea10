/* Signals and threads in the stream of fetches. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/dcfg/graph/flow.h"

#include <stdlib.h>

#define MEMORY (64u << 20)
#define STEPS  400u

/* A fetch, and the event before it. */
struct event_fetch {
    uint32_t address;
    uint8_t processor;
    enum record_event event;
};

static struct record record_of(const struct event_fetch *fetch)
{
    return (struct record){.address = fetch->address, .size = 2, .processor = fetch->processor};
}

static struct flow *put_all(const struct event_fetch *fetches, size_t count)
{
    struct flow *flow = flow_new(MEMORY, NULL);
    for (size_t i = 0; i < count; i++) {
        struct record record = record_of(&fetches[i]);
        const struct batch batch = {.records = &record, .count = 1, .event = fetches[i].event};
        CU_ASSERT_EQUAL_FATAL(flow_put(flow, &batch, NULL), 0);
    }
    return flow;
}

/* Number of the block that begins at an address. */
static uint32_t block_at(const struct flow_graph *graph, uint32_t address)
{
    uint32_t b = 0;
    while (b < graph->block_count && graph->blocks[b].address != address)
        b++;
    return b;
}

/* The edge between blocks at two addresses; 0: START or END. */
static size_t edge_between(const struct flow_graph *graph, uint32_t source, uint32_t target)
{
    uint32_t from = source ? block_at(graph, source) : FLOW_START;
    uint32_t to = target ? block_at(graph, target) : FLOW_END;
    size_t e = 0;
    while (e < graph->edge_count &&
           (graph->edges[e].source != from || graph->edges[e].target != to))
        e++;
    return e;
}

static int kind_between(const struct flow_graph *graph, uint32_t source, uint32_t target)
{
    size_t e = edge_between(graph, source, target);
    return e < graph->edge_count ? graph->edges[e].kind : -1;
}

static bool resumes(const struct flow_graph *graph, uint32_t source, uint32_t target)
{
    for (size_t i = 0; i < graph->resumption_count; i++)
        if (graph->resumptions[i].source == block_at(graph, source) &&
            graph->resumptions[i].target == block_at(graph, target))
            return true;
    return false;
}

/* A handler that is interrupted by another one; the second time it returns elsewhere, and once not
 * at all. */
static void test_signals(void)
{
    static const struct event_fetch fetches[] = {
        {0x10, 0, 0},
        {0x12, 0, 0},
        {0x50, 0, EVENT_SIGNAL},
        {0x52, 0, 0},
        {0x80, 0, EVENT_SIGNAL},
        {0x54, 0, EVENT_SIGNAL_RETURN},
        {0x14, 0, EVENT_SIGNAL_RETURN},
        {0x50, 0, EVENT_SIGNAL},
        {0x20, 0, EVENT_SIGNAL_RETURN},
        {0x80, 0, EVENT_SIGNAL},
        {0x30, 0, 0}, /* longjmp() */
        {0x50, 0, EVENT_SIGNAL},
        {0x30, 0, EVENT_SIGNAL_RETURN},
    };
    struct flow_graph graph;
    struct flow *flow = put_all(fetches, sizeof fetches / sizeof *fetches);
    CU_ASSERT_EQUAL_FATAL(flow_finish(flow, &graph, NULL), 0);
    CU_ASSERT_EQUAL(kind_between(&graph, 0x10, 0x50), FLOW_SIGNAL); /* the block 0x10 to 0x13 */
    CU_ASSERT_EQUAL(kind_between(&graph, 0x50, 0x80), -1);
    CU_ASSERT_EQUAL(kind_between(&graph, 0x52, 0x80), FLOW_SIGNAL);
    CU_ASSERT_EQUAL(kind_between(&graph, 0x80, 0x54), FLOW_SIGNAL_RETURN);
    CU_ASSERT_EQUAL(kind_between(&graph, 0x54, 0x14), FLOW_SIGNAL_RETURN);
    CU_ASSERT_EQUAL(kind_between(&graph, 0x50, 0x20), FLOW_SIGNAL_RETURN);
    CU_ASSERT_EQUAL(kind_between(&graph, 0x80, 0x30), FLOW_JUMP);
    CU_ASSERT_EQUAL(graph.resumption_count, 4);
    CU_ASSERT_TRUE(resumes(&graph, 0x52, 0x54));
    CU_ASSERT_TRUE(resumes(&graph, 0x10, 0x14));
    CU_ASSERT_TRUE(resumes(&graph, 0x14, 0x20));
    CU_ASSERT_TRUE(resumes(&graph, 0x30, 0x30));
    flow_free(flow);
}

/* Threads that have a number one after another. */
static void test_threads(void)
{
    static const struct event_fetch fetches[] = {
        {0x10, 0, 0},
        {0x40, 1, 0},
        {0x42, 1, 0},
        {0x12, 0, 0},
        {0x40, 1, EVENT_THREAD},
        {0x42, 1, 0},
        {0x44, 1, 0},
        {0x40, 1, EVENT_THREAD},
        {0x20, 2, EVENT_THREAD}, /* its begin: no earlier one */
    };
    static const uint8_t processors[] = {0, 1, 1, 1, 2};
    static const uint64_t instructions[] = {2, 2, 3, 1, 1};
    struct flow_graph graph;
    struct flow *flow = put_all(fetches, sizeof fetches / sizeof *fetches);
    CU_ASSERT_EQUAL(flow_fetches(flow), 9);
    CU_ASSERT_EQUAL_FATAL(flow_finish(flow, &graph, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(graph.thread_count, 5);
    for (size_t t = 0; t < 5; t++) {
        CU_ASSERT_EQUAL(graph.processors[t], processors[t]);
        CU_ASSERT_EQUAL(graph.instructions[t], instructions[t]);
    }
    const uint64_t *entries = graph.counts + edge_between(&graph, 0, 0x40) * 5;
    CU_ASSERT(entries[0] == 0 && entries[1] == 1 && entries[2] == 1 && entries[3] == 1 &&
              entries[4] == 0);
    CU_ASSERT_EQUAL(kind_between(&graph, 0x42, 0x40), -1);
    CU_ASSERT_EQUAL(kind_between(&graph, 0x44, 0x40), -1);
    flow_free(flow);
}

/* Counts the edges of a replay by thread; each thread's path must be connected. */
static void replay(struct flow *flow, const struct flow_graph *graph,
                   const struct event_fetch *fetches, size_t count, uint64_t *counts)
{
    struct flow_step *steps = calloc(FLOW_PROCESSORS + 2, sizeof *steps);
    uint32_t *at = malloc(graph->thread_count * sizeof *at);
    struct flow_replay *replay = flow_replay_new(flow, NULL);
    for (size_t t = 0; t < graph->thread_count; t++)
        at[t] = FLOW_START;
    for (size_t i = 0; i <= count; i++) {
        struct record record = i < count ? record_of(&fetches[i]) : (struct record){.size = 0};
        const struct batch batch = {
            .records = &record, .count = 1, .event = i < count ? fetches[i].event : EVENT_NONE};
        size_t taken;
        CU_ASSERT_EQUAL_FATAL(i < count ? flow_replay_put(replay, &batch, steps, &taken, NULL)
                                        : flow_replay_end(replay, steps, &taken, NULL),
                              0);
        for (size_t s = 0; s < taken; s++) {
            const struct flow_edge *edge = &graph->edges[steps[s].edge];
            CU_ASSERT_EQUAL(edge->source, at[steps[s].thread]);
            at[steps[s].thread] = edge->target;
            counts[steps[s].edge * graph->thread_count + steps[s].thread]++;
        }
    }
    for (size_t t = 0; t < graph->thread_count; t++)
        CU_ASSERT_EQUAL(at[t], FLOW_END);
    flow_replay_free(replay);
    free(at);
    free(steps);
}

/* The second pass takes the edges that the first one has counted, by the same threads. */
static void test_replay(void)
{
    static struct event_fetch fetches[STEPS];
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t random = random_seed(seed);
        const size_t count = 1 + random_below(&random, STEPS - 1);
        uint32_t at[3] = {0x100, 0x100, 0x100};
        for (size_t i = 0; i < count; i++) {
            static const enum record_event events[] = {EVENT_SIGNAL, EVENT_SIGNAL_RETURN,
                                                       EVENT_THREAD};
            uint8_t processor = (uint8_t)random_below(&random, 3);
            bool jumps = random_one_in(&random, 3);
            at[processor] =
                jumps ? 0x100 + 2 * (uint32_t)random_below(&random, 20) : at[processor] + 2;
            fetches[i] = (struct event_fetch){
                at[processor], processor,
                random_one_in(&random, 5) ? events[random_below(&random, 3)] : EVENT_NONE};
        }
        struct flow_graph graph;
        struct flow *flow = put_all(fetches, count);
        CU_ASSERT_EQUAL_FATAL(flow_finish(flow, &graph, NULL), 0);
        size_t all = graph.edge_count * graph.thread_count;
        uint64_t *counts = calloc(all + 1, sizeof *counts);
        replay(flow, &graph, fetches, count, counts);
        for (size_t i = 0; i < all; i++)
            CU_ASSERT_EQUAL_FATAL(counts[i], graph.counts[i]);
        free(counts);
        flow_free(flow);
    }
}

static const struct test_case cases[] = {{"signals", test_signals},
                                         {"threads with one number", test_threads},
                                         {"replays of random events", test_replay},
                                         {NULL, NULL}};
TEST_SUITE(flow_events, cases)
