/* What was executed, by block and routine: the sums that the views of a graph share. */
#ifndef TOOLS_DCFG_GRAPH_GRAPH_PROFILE_H
#define TOOLS_DCFG_GRAPH_GRAPH_PROFILE_H

#include "formats/dcfg/dcfg.h"

struct graph_profile {
    const struct dcfg_process *process;
    uint64_t *executions;   /* by block; the file's, or from the edges where it tells none */
    uint64_t *instructions; /* by block: executions * its instructions; saturates */
    uint32_t *routine_of;   /* by block; DCFG_NONE for a block that is in none */
    uint64_t total;         /* instructions of all blocks; saturates */
};

/* Sums up a process of a sealed graph. 0 or BT_MEMORY; free with graph_profile_clear. */
int graph_profile_make(struct graph_profile *profile, const struct dcfg_process *process,
                       struct bt_error *error);
void graph_profile_clear(struct graph_profile *profile);

/* part of whole, 0 where there is no whole. */
double graph_profile_share(uint64_t part, uint64_t whole);

#endif
