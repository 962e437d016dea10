/* The slow twin of tools/dcfg/graph/flow.h, for small streams: counts each pair of consecutive
 * fetches, and makes blocks from the pairs at the end. */
#ifndef TESTS_TOOLS_DCFG_GRAPH_FLOW_FIXTURE_H
#define TESTS_TOOLS_DCFG_GRAPH_FLOW_FIXTURE_H

#include "tools/dcfg/graph/flow.h"

#define TWIN_INSTRUCTIONS 512
#define TWIN_PAIRS        2048
#define TWIN_THREADS      8

/* Instruction 0 is where threads start, 1 where they end. */
struct twin_pair {
    int source;
    int target;
    bool known;
    uint64_t counts[FLOW_PROCESSORS]; /* by processor */
};

struct flow_twin {
    int instruction_count;
    struct {
        uint32_t address;
        uint8_t size;
        bool cut;
    } instructions[TWIN_INSTRUCTIONS];
    int pair_count;
    struct twin_pair pairs[TWIN_PAIRS];
    int at[FLOW_PROCESSORS];
    bool lost[FLOW_PROCESSORS];
    uint64_t fetched[FLOW_PROCESSORS];

    int block_count;
    int starts[TWIN_INSTRUCTIONS]; /* by instruction: the block that starts or ends there, or -1 */
    int ends[TWIN_INSTRUCTIONS];
    struct flow_block blocks[TWIN_INSTRUCTIONS];
};

void twin_begin(struct flow_twin *twin);
void twin_put(struct flow_twin *twin, const struct batch *batch);

/* Makes blocks end after the instructions for which cut(address, size) is true. */
void twin_cut(struct flow_twin *twin, bool (*cut)(uint32_t address, uint8_t size));

/* Ends the stream and makes the blocks. */
void twin_finish(struct flow_twin *twin);

/* Whether the graph equals the twin's; prints a difference to standard error. */
bool twin_agrees(const struct flow_twin *twin, const struct flow_graph *graph);

#endif
