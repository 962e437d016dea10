/* What is known of a bus and the processor that fetches from it. */
#ifndef TOOLS_DCFG_GRAPH_BUS_MODEL_H
#define TOOLS_DCFG_GRAPH_BUS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

struct bus_model {
    uint32_t chunk; /* bytes */
    bool refetch;   /* each instruction fetches all its chunks; otherwise only those that were not
                       fetched since the last taken branch */
    uint32_t ahead; /* number of chunks prefetched at most */
    bool noise;     /* address bits of some fetches are wrong */
};

#endif
