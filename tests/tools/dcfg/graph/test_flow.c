/* From fetches to blocks and edges, and back. */
#include "tests/suites.h"
#include "tests/support/fetches.h"
#include "tests/support/random.h"
#include "tests/tools/dcfg/graph/flow_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#define MEMORY  (64u << 20)
#define LONGEST 2000u

static struct record *records_of(const struct fetches *fetches, size_t count)
{
    struct record *records = malloc(count * sizeof *records);
    fetches_fill(fetches, records, count);
    return records;
}

/* The fetches of a random program. */
static struct fetches any_fetches(uint64_t seed)
{
    uint64_t random = random_seed(seed);
    struct fetches fetches = {
        .seed = seed,
        .base = random_one_in(&random, 8) ? 0xffffffe0u : 0x1000,
        .span = 8 + (uint32_t)random_below(&random, 60),
        .threads = 1 + (unsigned)random_below(&random, 5),
        .jumps = (unsigned)random_below(&random, 6),
        .choices = 1 + (unsigned)random_below(&random, 9),
        .overlaps = random_one_in(&random, 3) ? 5 + (unsigned)random_below(&random, 90) : 0,
        .others = random_one_in(&random, 4) ? 3 : 0,
        .burst = (unsigned)random_below(&random, 40),
    };
    return fetches;
}

/* The next records as a batch, sometimes after a loss. */
static struct batch next_batch(struct record *records, size_t count, size_t at, bool lossy,
                               uint64_t *random)
{
    size_t size = 1 + random_below(random, 50);
    struct batch batch = {.records = records + at, .count = size < count - at ? size : count - at};
    if (lossy && random_one_in(random, 2))
        batch.lost.count[LOSS_LINK] = 1;
    else if (lossy && random_one_in(random, 4))
        batch.gap.milliseconds = 1;
    return batch;
}

static bool third(uint32_t address, uint8_t size)
{
    return (address + size) % 3 == 0;
}

static void cut_thirds(struct flow *flow)
{
    uint32_t at = 0;
    uint32_t address;
    uint8_t size;
    while (flow_next_instruction(flow, &at, &address, &size))
        if (third(address, size))
            flow_end_block(flow, at);
}

/* For every thread, flow is conserved at each block and the instructions add up. */
static bool conserves(const struct flow_graph *graph)
{
    for (size_t t = 0; t < graph->thread_count; t++) {
        uint64_t fetched = 0;
        uint64_t *balance = calloc(graph->block_count + 1, sizeof *balance);
        for (size_t e = 0; e < graph->edge_count; e++) {
            const struct flow_edge *edge = &graph->edges[e];
            uint64_t count = graph->counts[e * graph->thread_count + t];
            balance[edge->source == FLOW_START ? graph->block_count : edge->source] += count;
            balance[edge->target == FLOW_END ? graph->block_count : edge->target] -= count;
            if (edge->target != FLOW_END)
                fetched += count * graph->blocks[edge->target].instructions;
        }
        bool even = true;
        for (size_t b = 0; b <= graph->block_count; b++)
            even &= balance[b] == 0;
        free(balance);
        if (!even || fetched != graph->instructions[t])
            return false;
    }
    return true;
}

/* Replays the stream through the graph: each step begins where the last one ended, the blocks match
 * the fetches, and the counts of edges match the steps. */
struct flow_walk {
    const struct flow_graph *graph;
    uint32_t block[FLOW_PROCESSORS]; /* by thread */
    size_t next[FLOW_PROCESSORS];    /* index to search its records from */
    uint64_t *counts;
    bool good;
};

static void walk_block(struct flow_walk *walk, const struct record *records, size_t count,
                       uint32_t t)
{
    const struct flow_block *block = &walk->graph->blocks[walk->block[t]];
    uint32_t seen = 0;
    size_t i = walk->next[t];
    for (; i < count && seen < block->instructions; i++) {
        const struct record *record = &records[i];
        if (record->type != REQUEST_FETCH || record->processor != walk->graph->processors[t])
            continue;
        seen++;
        if (seen == 1)
            walk->good &= record->address == block->address;
        if (seen == block->instructions)
            walk->good &= record->address - block->address == block->last_offset &&
                          (record->size == block->last_size || record->size == 0);
    }
    walk->good &= seen == block->instructions;
    walk->next[t] = i;
}

static void walk_steps(struct flow_walk *walk, const struct record *records, size_t count,
                       const struct flow_step *steps, size_t step_count)
{
    for (size_t i = 0; i < step_count; i++) {
        uint32_t t = steps[i].thread;
        const struct flow_edge *edge = &walk->graph->edges[steps[i].edge];
        walk->counts[steps[i].edge * walk->graph->thread_count + t]++;
        walk->good &= edge->source == walk->block[t];
        walk->block[t] = edge->target;
        if (edge->target != FLOW_END)
            walk_block(walk, records, count, t);
    }
}

static bool replays(struct flow *flow, const struct flow_graph *graph, struct record *records,
                    size_t count)
{
    size_t cells = graph->edge_count * graph->thread_count;
    struct flow_walk walk = {
        .graph = graph, .counts = calloc(cells + 1, sizeof(uint64_t)), .good = true};
    struct flow_step *steps = calloc(count + FLOW_PROCESSORS, sizeof *steps);
    struct flow_replay *replay = flow_replay_new(flow, NULL);
    for (unsigned t = 0; t < FLOW_PROCESSORS; t++)
        walk.block[t] = FLOW_START;
    for (size_t at = 0; at < count; at += 333) {
        struct batch batch = {.records = records + at,
                              .count = count - at < 333 ? count - at : 333};
        size_t step_count;
        walk.good &= flow_replay_put(replay, &batch, steps, &step_count, NULL) == 0;
        walk_steps(&walk, records, count, steps, step_count);
    }
    size_t last_count;
    walk.good &=
        flow_replay_end(replay, steps, &last_count, NULL) == 0 && last_count == graph->thread_count;
    walk_steps(&walk, records, count, steps, last_count);
    for (size_t t = 0; t < graph->thread_count; t++)
        walk.good &= walk.block[t] == FLOW_END;
    for (size_t i = 0; i < cells; i++)
        walk.good &= walk.counts[i] == graph->counts[i];
    flow_replay_free(replay);
    free(steps);
    free(walk.counts);
    return walk.good;
}

/* Whether only blocks of one instruction share bytes with other blocks. */
static bool shares_no_bytes(const struct flow_graph *graph)
{
    for (size_t a = 0; a < graph->block_count; a++)
        for (size_t b = a + 1; b < graph->block_count; b++) {
            const struct flow_block *first = &graph->blocks[a];
            const struct flow_block *second = &graph->blocks[b];
            if (first->address + first->size > second->address && second->size > 0 &&
                (first->instructions > 1 || second->instructions > 1))
                return false;
        }
    return true;
}

/* Instructions of a stream that share bytes with another one become blocks of their own; no other
 * block is split. Returns how many blocks that makes more. */
static size_t test_shared_once(uint64_t seed, size_t count)
{
    struct fetches fetches = any_fetches(seed);
    fetches.overlaps = seed % 3 ? 5 + (unsigned)seed % 40 : 0;
    struct record *records = records_of(&fetches, count);
    const struct batch batch = {.records = records, .count = count};
    struct flow *flow = flow_new(MEMORY, NULL);
    struct flow *plain = flow_new(MEMORY, NULL);
    struct flow_graph graph, plain_graph;
    CU_ASSERT_EQUAL(flow_put(flow, &batch, NULL), 0);
    CU_ASSERT_EQUAL(flow_put(plain, &batch, NULL), 0);
    CU_ASSERT_EQUAL(flow_part_shared(flow, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(flow_finish(flow, &graph, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(flow_finish(plain, &plain_graph, NULL), 0);
    CU_ASSERT(shares_no_bytes(&graph));
    CU_ASSERT(conserves(&graph));
    CU_ASSERT(replays(flow, &graph, records, count));
    size_t more = graph.block_count - plain_graph.block_count;
    CU_ASSERT_EQUAL(more > 0, !shares_no_bytes(&plain_graph));
    flow_free(flow);
    flow_free(plain);
    free(records);
    return more;
}

static void test_shared(void)
{
    size_t more = 0;
    for (uint64_t seed = 0; seed < 300; seed++)
        more += test_shared_once(seed, 20 + seed);
    CU_ASSERT(more > 300);
}

static bool agrees(uint64_t seed, size_t count, bool lossy, bool cut)
{
    static struct flow_twin twin;
    const struct fetches fetches = any_fetches(seed);
    struct record *records = records_of(&fetches, count);
    struct flow *flow = flow_new(MEMORY, NULL);
    struct flow_graph graph;
    uint64_t random = random_seed(seed + 1);
    twin_begin(&twin);
    for (size_t at = 0; at < count;) {
        const struct batch batch = next_batch(records, count, at, lossy, &random);
        flow_put(flow, &batch, NULL);
        twin_put(&twin, &batch);
        at += batch.count;
    }
    if (cut) {
        cut_thirds(flow);
        twin_cut(&twin, third);
    }
    twin_finish(&twin);
    bool good = flow_finish(flow, &graph, NULL) == 0 && twin_agrees(&twin, &graph) &&
                conserves(&graph) && replays(flow, &graph, records, count);
    flow_free(flow);
    free(records);
    if (!good)
        fprintf(stderr, "seed %llu, %zu records\n", (unsigned long long)seed, count);
    return good;
}

static void test_twins(void)
{
    for (uint64_t seed = 0; seed < 3000; seed++) {
        uint64_t random = random_seed(seed);
        size_t count = random_below(&random, seed % 10 ? 200 : LONGEST);
        if (!agrees(seed, count, seed % 4 == 1, seed % 5 == 2)) {
            CU_FAIL("a random program has the same graph as its twin's");
            return;
        }
    }
}

/* Every prefix of a stream makes a complete graph. */
static void test_every_prefix(void)
{
    for (uint64_t seed = 0; seed < 30; seed++)
        for (size_t count = 0; count < 120; count++)
            if (!agrees(seed + 5000, count, seed % 3 == 1, seed % 3 == 2)) {
                CU_FAIL("the first records of a random program have the same graph as its twin's");
                return;
            }
}

/* A batch of fetches by one processor, given as addresses and sizes. */
static void put_pairs(struct flow *flow, const uint32_t *pairs, size_t count, uint8_t processor)
{
    for (size_t i = 0; i < count; i++) {
        struct record record = {
            .address = pairs[2 * i], .size = (uint8_t)pairs[2 * i + 1], .processor = processor};
        const struct batch batch = {.records = &record, .count = 1};
        CU_ASSERT_EQUAL(flow_put(flow, &batch, NULL), 0);
    }
}

/* Two instructions, a loop of two that runs three times, and one more. */
static void test_late_split(void)
{
    static const uint32_t pairs[] = {0x10, 2,    0x12, 2,    0x14, 4,    0x18, 1,    0x14,
                                     4,    0x18, 1,    0x14, 4,    0x18, 1,    0x19, 3};
    struct flow *flow = flow_new(MEMORY, NULL);
    struct flow_graph graph;
    put_pairs(flow, pairs, sizeof pairs / sizeof *pairs / 2, 0);
    CU_ASSERT_EQUAL_FATAL(flow_finish(flow, &graph, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(graph.block_count, 3);
    CU_ASSERT_EQUAL(graph.first_block, 0);
    CU_ASSERT_EQUAL(graph.blocks[0].size, 4);
    CU_ASSERT_EQUAL(graph.blocks[0].instructions, 2);
    CU_ASSERT_EQUAL(graph.blocks[0].last_offset, 2);
    CU_ASSERT_EQUAL(graph.blocks[1].address, 0x14);
    CU_ASSERT_EQUAL(graph.blocks[1].count, 3);
    CU_ASSERT_EQUAL(graph.blocks[2].count, 1);
    static const struct {
        struct flow_edge edge;
        uint64_t count;
    } expected[] = {{{.source = 0, .target = 1, .kind = FLOW_NEXT}, 1},
                    {{.source = 1, .target = 1, .kind = FLOW_JUMP}, 2},
                    {{.source = 1, .target = 2, .kind = FLOW_NEXT}, 1},
                    {{.source = 2, .target = FLOW_END, .kind = FLOW_EXIT}, 1},
                    {{.source = FLOW_START, .target = 0, .kind = FLOW_ENTRY}, 1}};
    CU_ASSERT_EQUAL_FATAL(graph.edge_count, 5);
    for (size_t e = 0; e < 5; e++) {
        CU_ASSERT_EQUAL(graph.edges[e].source, expected[e].edge.source);
        CU_ASSERT_EQUAL(graph.edges[e].target, expected[e].edge.target);
        CU_ASSERT_EQUAL(graph.edges[e].kind, expected[e].edge.kind);
        CU_ASSERT_EQUAL(graph.counts[e], expected[e].count);
    }
    flow_free(flow);
}

/* Threads that alternate in new code make blocks as long as a single thread does. */
static void test_turns(void)
{
    struct flow *flow = flow_new(MEMORY, NULL);
    struct flow_graph graph;
    for (uint32_t i = 0; i < 300; i++)
        for (uint8_t processor = 0; processor < 3; processor++) {
            const uint32_t pair[] = {0x1000u + 2 * i + 0x10000u * processor, 2};
            put_pairs(flow, pair, 1, processor);
        }
    CU_ASSERT_EQUAL_FATAL(flow_finish(flow, &graph, NULL), 0);
    CU_ASSERT_EQUAL(graph.block_count, 3);
    CU_ASSERT_EQUAL(graph.blocks[2].instructions, 300);
    CU_ASSERT_EQUAL(graph.edge_count, 6);
    flow_free(flow);
}

static void test_empty(void)
{
    struct flow *flow = flow_new(MEMORY, NULL);
    struct flow_graph graph;
    CU_ASSERT_EQUAL(flow_finish(flow, &graph, NULL), 0);
    CU_ASSERT_EQUAL(graph.block_count, 0);
    CU_ASSERT_EQUAL(graph.edge_count, 0);
    CU_ASSERT_EQUAL(graph.thread_count, 0);
    flow_free(flow);
}

/* 256 processors in the same code, and each in separate code. */
static void test_all_processors(void)
{
    struct flow *flow = flow_new(MEMORY, NULL);
    struct flow_graph graph;
    for (unsigned round = 0; round < 3; round++)
        for (unsigned processor = 0; processor < 256; processor++) {
            const uint32_t pairs[] = {0x100, 4, 0x104, 4, 0x1000 + 16 * processor, 4};
            put_pairs(flow, pairs, 3, (uint8_t)(255 - processor));
        }
    CU_ASSERT_EQUAL_FATAL(flow_finish(flow, &graph, NULL), 0);
    CU_ASSERT_EQUAL(graph.thread_count, 256);
    CU_ASSERT_EQUAL(graph.block_count, 257);
    CU_ASSERT_EQUAL(graph.blocks[0].count, 768);
    CU_ASSERT(conserves(&graph));
    flow_free(flow);
}

static void test_memory(void)
{
    const struct fetches fetches = {
        .seed = 1, .span = 1u << 20, .threads = 4, .jumps = 3, .choices = 4};
    struct record *records = records_of(&fetches, 100000);
    const struct batch batch = {.records = records, .count = 100000};
    struct bt_error error = {0};
    CU_ASSERT_PTR_NULL(flow_new(100, &error));
    CU_ASSERT_EQUAL(error.code, BT_MEMORY);
    for (uint64_t memory = 1u << 15; memory < 1u << 23; memory += memory / 5) {
        struct flow *flow = flow_new(memory, NULL);
        struct flow_graph graph;
        error.code = 0;
        int result = flow_put(flow, &batch, &error);
        CU_ASSERT_EQUAL(error.code, result);
        CU_ASSERT(result == 0 || flow_put(flow, &batch, NULL) == BT_MEMORY);
        int finished = flow_finish(flow, &graph, &error);
        CU_ASSERT_EQUAL(error.code, finished);
        CU_ASSERT(finished == BT_MEMORY || (result == 0 && conserves(&graph)));
        flow_free(flow);
    }
    free(records);
}

static void test_other_stream(void)
{
    static const uint32_t pairs[] = {0x10, 2, 0x12, 2, 0x14, 4};
    struct flow *flow = flow_new(MEMORY, NULL);
    struct flow_graph graph;
    struct flow_step steps[4];
    size_t count;
    struct bt_error error;
    put_pairs(flow, pairs, 3, 0);
    CU_ASSERT_EQUAL(flow_finish(flow, &graph, NULL), 0);
    struct flow_replay *replay = flow_replay_new(flow, NULL);
    struct record record = {.address = 0x11, .size = 2};
    const struct batch batch = {.records = &record, .count = 1};
    CU_ASSERT_EQUAL(flow_replay_put(replay, &batch, steps, &count, &error), BT_DATA);
    record.address = 0x10;
    flow_replay_free(replay);
    replay = flow_replay_new(flow, NULL);
    CU_ASSERT_EQUAL(flow_replay_put(replay, &batch, steps, &count, &error), 0);
    CU_ASSERT_EQUAL(flow_replay_end(replay, steps, &count, &error), BT_DATA);
    flow_replay_free(replay);
    flow_free(flow);
}

static const struct test_case cases[] = {
    {"random programs and their twins", test_twins},
    {"the first records of random programs", test_every_prefix},
    {"a block that is split late", test_late_split},
    {"instructions that share bytes", test_shared},
    {"threads that alternate in new code", test_turns},
    {"no fetches", test_empty},
    {"all processors", test_all_processors},
    {"too little memory", test_memory},
    {"another stream than the graph's", test_other_stream},
    {NULL, NULL}};
TEST_SUITE(flow, cases)
