/* Executions by block and routine, shared by the views of a graph. */
#ifndef TOOLS_DCFG_GRAPH_GRAPH_PROFILE_H
#define TOOLS_DCFG_GRAPH_GRAPH_PROFILE_H

#include "formats/dcfg/dcfg.h"

struct graph_profile {
    const struct dcfg_process *process;
    uint64_t *executions;   /* by block; from the file, else from the edges */
    uint64_t *instructions; /* by block: executions * instructions of the block; saturates */
    uint32_t *routine_of;   /* by block; DCFG_NONE: in no routine */
    uint64_t total;         /* sum over all blocks; saturates */
};

/* Sums up a process of a sealed graph. 0 or BT_MEMORY; free with graph_profile_clear. */
int graph_profile_make(struct graph_profile *profile, const struct dcfg_process *process,
                       struct bt_error *error);
void graph_profile_clear(struct graph_profile *profile);

/* part / whole; 0 if whole is 0. */
double graph_profile_share(uint64_t part, uint64_t whole);

#endif
