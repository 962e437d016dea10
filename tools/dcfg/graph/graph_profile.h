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
    uint64_t *certain;      /* by block: executions that are certain (formats/dcfg/dcfg_bus.h); */
    uint64_t *unexplained;  /* executions of fetches that nothing explains; */
    uint64_t *fetches;      /* of its chunks. All NULL if the graph is not from a bus */
};

enum graph_confidence {
    GRAPH_CERTAIN,    /* all executions */
    GRAPH_ASSUMED,    /* some may be others' */
    GRAPH_UNEXPLAINED /* nothing explains most of those that are not certain */
};

/* What the executions of a block rest on. */
enum graph_confidence graph_profile_confidence(const struct graph_profile *profile, uint32_t block);

/* Its name: "certain", "assumed" or "not explained". */
const char *graph_confidence_name(enum graph_confidence confidence);

/* Executions of a block that are certain. */
uint64_t graph_profile_certain(const struct graph_profile *profile, uint32_t block);

/* Sums up a process of a sealed graph. 0 or BT_MEMORY; free with graph_profile_clear. */
int graph_profile_make(struct graph_profile *profile, const struct dcfg_process *process,
                       struct bt_error *error);
void graph_profile_clear(struct graph_profile *profile);

/* part / whole; 0 if whole is 0. */
double graph_profile_share(uint64_t part, uint64_t whole);

#endif
