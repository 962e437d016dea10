/* What a processor executes with one chunk, from an address on: the ways out of it, each found once
 * in the code. */
#ifndef TOOLS_DCFG_GRAPH_BUS_BURSTS_H
#define TOOLS_DCFG_GRAPH_BUS_BURSTS_H

#include "tools/dcfg/graph/bus_code.h"
#include "tools/dcfg/graph/bus_model.h"

#define BURST_EXITS 6u
#define BURSTS      16384u /* a power of two */

/* A way out: where another chunk is needed. */
struct burst_exit {
    uint32_t end;    /* address after the last instruction that was executed */
    uint32_t at;     /* next instruction; not set for a return */
    uint32_t needed; /* chunk that it needs; likewise */
    uint8_t branch;  /* the branch that was taken (enum image_branch); IMAGE_PLAIN: none */
};

struct burst {
    uint32_t at;
    uint32_t needed; /* the chunk */
    uint32_t count;  /* of exits; 0: they depend on more than the code, or are too many */
    bool returns;    /* the last exit is a return */
    struct burst_exit exits[BURST_EXITS];
};

struct bus_bursts {
    struct burst table[BURSTS]; /* zero at first */
};

/* Finds the burst again if the model and code are those of all earlier calls. */
const struct burst *bus_bursts_find(struct bus_bursts *bursts, const struct bus_model *model,
                                    struct bus_code *code, uint32_t at, uint32_t needed);

#endif
