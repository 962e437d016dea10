/*
 * Types of the edges out of code without an image: libraries whose file is not given, and code that
 * the program generates. What such an instruction is, its neighbours tell:
 *
 * - it is a return if it leads to the instruction after a call of known code;
 * - it is a call if a return leads to the instruction after it;
 * - it is a conditional branch if it leads to the next instruction and to one other, and has the
 *   size of one.
 *
 * Other edges stay BRANCH.
 */
#ifndef TOOLS_DCFG_GRAPH_UNKNOWN_CODE_H
#define TOOLS_DCFG_GRAPH_UNKNOWN_CODE_H

#include "tools/dcfg/graph/flow.h"

/* What the edges without a known type become. */
enum unknown_branches {
    UNKNOWN_BRANCHES_BRANCH,  /* BRANCH and CALL */
    UNKNOWN_BRANCHES_INDIRECT /* the kinds of indirect branches and calls, for readers that reject
                                 BRANCH */
};

/* Replaces the type BRANCH in types, by edge of the graph, where the type can be found; all other
 * edges must have their types. 0 or BT_MEMORY. */
int unknown_code_types(uint8_t *types, const struct flow_graph *graph,
                       enum unknown_branches unknown);

#endif
