/*
 * Regions of a graph: the body of each loop, each routine, and the blocks that are in no routine.
 *
 * The nodes of a region are the blocks that are in no smaller one, and its inner loops, each as one
 * node. Nodes are numbered: the blocks, then the loops; so are regions: the loops, then the
 * routines, then the one of all other blocks.
 */
#ifndef TOOLS_DCFG_GRAPH_REGION_TREE_H
#define TOOLS_DCFG_GRAPH_REGION_TREE_H

#include "tools/dcfg/graph/graph_profile.h"

struct region_tree {
    const struct graph_profile *profile;
    uint32_t node_count;
    uint32_t *region_of; /* by node */
    uint32_t *depth;     /* by loop: 1 for an outer one */
};

/* 0 or BT_MEMORY; free with region_tree_clear. The profile must outlive the tree. */
int region_tree_make(struct region_tree *tree, const struct graph_profile *profile);
void region_tree_clear(struct region_tree *tree);

/* The block that is a loop's head. */
uint32_t region_tree_head(const struct dcfg_process *process, uint32_t loop);

/* The block of a node, or the head of its loop. */
uint32_t region_tree_block(const struct region_tree *tree, uint32_t node);

/* The smallest region with both nodes, which become its nodes that contain them; or DCFG_NONE: they
 * are in different routines, and change, too. */
uint32_t region_tree_join(const struct region_tree *tree, uint32_t *a, uint32_t *b);

#endif
