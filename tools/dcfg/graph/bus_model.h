/* What is known of a bus and the processor that fetches from it. */
#ifndef TOOLS_DCFG_GRAPH_BUS_MODEL_H
#define TOOLS_DCFG_GRAPH_BUS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum bus_refetch {
    BUS_REFETCH_NONE, /* what was fetched since the last taken branch is not fetched again */
    BUS_REFETCH_SOME, /* a chunk may be fetched again for as long as it is executed */
    BUS_REFETCH_EACH  /* each instruction fetches all chunks that it is in */
};

struct bus_model {
    uint32_t chunk;  /* bytes */
    uint8_t refetch; /* enum bus_refetch */
    uint32_t ahead;  /* number of chunks prefetched at most */
    bool noise;      /* address bits of some fetches are wrong */
};

#endif
