/* A graph of given edges, for tests. */
#ifndef TESTS_TOOLS_DCFG_GRAPH_GRAPH_FIXTURE_H
#define TESTS_TOOLS_DCFG_GRAPH_GRAPH_FIXTURE_H

#include "formats/dcfg/dcfg.h"

#define FIXTURE_ID      4u         /* of block 0 */
#define FIXTURE_OUTSIDE UINT32_MAX /* instead of a block: START or END */

struct fixture_edge {
    uint32_t source, target; /* blocks */
    uint8_t type;            /* enum dcfg_edge_type */
    uint64_t count;
};

/* A process of blocks of 2 instructions, block b with the id FIXTURE_ID + b, and of no routines. */
struct dcfg *fixture_begin(uint32_t blocks);

/* Adds the routines and loops that follow from the edges. */
void fixture_routines(struct dcfg *graph, const struct fixture_edge *edges, uint32_t count);

/* Adds the edges, and seals the graph. */
void fixture_seal(struct dcfg *graph, const struct fixture_edge *edges, uint32_t count);

/* Adds to the count of an edge, which may be a new one: *edges has room for it. */
void fixture_count(struct fixture_edge *edges, uint32_t *count, uint32_t capacity, uint32_t source,
                   uint32_t target, uint8_t type, uint64_t times);

#endif
