/*
 * How fast fetches become a graph, and then edges: from a stream that is in memory already, of
 * loops, and of a million blocks in an order that no cache foresees.
 *
 * usage: bench_flow [MILLION_FETCHES]     (40)
 */
#include "tests/support/measure.h"
#include "tests/support/random.h"
#include "tools/dcfg/graph/flow.h"

#include <stdio.h>
#include <stdlib.h>

#define RUNS        3
#define PIECE       4096u
#define FETCH_BYTES 4u

/* Loops of a few instructions in loops of a few blocks, two threads in turns of some hundred. */
static void fill_loops(struct record *records, size_t count)
{
    uint64_t random = random_seed(5);
    uint32_t at[2] = {0x1000, 0x1000};
    unsigned thread = 0;
    for (size_t i = 0; i < count; i++) {
        if (random_one_in(&random, 300))
            thread = 1 - thread;
        records[i] = (struct record){
            .address = at[thread], .size = FETCH_BYTES, .processor = (uint8_t)thread};
        uint32_t offset = (at[thread] - 0x1000) / FETCH_BYTES;
        at[thread] += FETCH_BYTES;
        if (offset % 8 == 7 && !random_one_in(&random, 20))
            at[thread] -= 8 * FETCH_BYTES; /* the inner loop */
        else if (offset % 64 == 63 && !random_one_in(&random, 50))
            at[thread] -= 64 * FETCH_BYTES;
        else if (offset == 4095)
            at[thread] = 0x1000;
    }
}

/* Blocks of one to nine instructions, all over memory; each is left for one of two others. */
static void fill_blocks(struct record *records, size_t count, uint32_t blocks)
{
    uint64_t random = random_seed(7);
    uint32_t *permutation = malloc(blocks * sizeof *permutation);
    for (uint32_t b = 0; b < blocks; b++)
        permutation[b] = b;
    for (uint32_t b = blocks - 1; b > 0; b--) {
        uint32_t other = (uint32_t)random_below(&random, b + 1u);
        uint32_t swap = permutation[b];
        permutation[b] = permutation[other];
        permutation[other] = swap;
    }
    uint32_t block = 0;
    uint32_t place = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t address = permutation[block] * 64;
        records[i] = (struct record){.address = address + place * FETCH_BYTES, .size = FETCH_BYTES};
        if (++place <= permutation[block] % 9)
            continue;
        place = 0;
        block = (block + (random_one_in(&random, 4) ? 3 : 1)) % blocks;
    }
    free(permutation);
}

struct result {
    double build;
    double finish;
    double replay;
    size_t blocks;
    size_t edges;
    size_t steps;
    size_t bytes;
};

static int replay(struct flow *flow, struct record *records, size_t count, struct result *result)
{
    struct flow_replay *walk = flow_replay_new(flow, NULL);
    struct measure measure;
    static struct flow_step steps[PIECE];
    int code = 0;
    measure_begin(&measure);
    for (size_t at = 0; at < count && code == 0; at += PIECE) {
        size_t taken;
        const struct batch batch = {.records = records + at,
                                    .count = count - at < PIECE ? count - at : PIECE};
        code = flow_replay_put(walk, &batch, steps, &taken, NULL);
        result->steps += taken;
    }
    measure_end(&measure);
    result->replay = measure.cpu;
    flow_replay_free(walk);
    return code;
}

static int run(struct record *records, size_t count, struct result *result)
{
    struct bt_error error;
    struct flow_graph graph;
    struct measure measure;
    size_t before = measure_resident_bytes();
    struct flow *flow = flow_new(UINT64_C(8) << 30, &error);
    int code = flow ? 0 : error.code;
    *result = (struct result){0};
    measure_begin(&measure);
    for (size_t at = 0; at < count && code == 0; at += PIECE) {
        const struct batch batch = {.records = records + at,
                                    .count = count - at < PIECE ? count - at : PIECE};
        code = flow_put(flow, &batch, &error);
    }
    measure_end(&measure);
    result->build = measure.cpu;
    measure_begin(&measure);
    if (code == 0)
        code = flow_finish(flow, &graph, &error);
    measure_end(&measure);
    result->finish = measure.cpu;
    if (code == 0) {
        result->bytes = measure_resident_bytes() - before;
        result->blocks = graph.block_count;
        result->edges = graph.edge_count;
        code = replay(flow, records, count, result);
    }
    flow_free(flow);
    return code;
}

static int best(const char *name, struct record *records, size_t count)
{
    struct result fastest = {0};
    for (int i = 0; i < RUNS; i++) {
        struct result result;
        if (run(records, count, &result) != 0)
            return -1;
        if (i == 0 || result.build + result.finish < fastest.build + fastest.finish)
            fastest = result;
    }
    double millions = (double)count / 1e6;
    printf("  %-20s %8.1f million fetches/s; with the graph's making (%.2f s) %.1f\n", name,
           millions / fastest.build, fastest.finish, millions / (fastest.build + fastest.finish));
    printf("  %20s %zu blocks, %zu edges, %zu MiB; walked again: %.1f million fetches/s, %.1f "
           "million edges/s\n",
           "", fastest.blocks, fastest.edges, fastest.bytes >> 20, millions / fastest.replay,
           (double)fastest.steps / 1e6 / fastest.replay);
    return 0;
}

int main(int argc, char **argv)
{
    size_t count = (argc > 1 ? strtoul(argv[1], NULL, 10) : 40) * 1000000;
    struct record *records = malloc((count + 1) * sizeof *records);
    if (!records)
        return 3;
    printf("flow: %zu million fetches in memory, one core, the best of %d runs\n", count / 1000000,
           RUNS);
    fill_loops(records, count);
    int result = best("loops", records, count);
    fill_blocks(records, count, 1000000);
    if (result == 0)
        result = best("a million blocks", records, count);
    free(records);
    return result == 0 ? 0 : 3;
}
