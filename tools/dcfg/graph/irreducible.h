/*
 * Irreducible loops: strongly connected parts of a routine, or of a loop's body, with several
 * entries. None of these dominates the part, so it has no natural loop (loops.h), and a graph has
 * no row for it.
 *
 * A part consists of nodes of one region (region_tree.h) and is as large as possible; it contains
 * the natural loops that are its nodes.
 */
#ifndef TOOLS_DCFG_GRAPH_IRREDUCIBLE_H
#define TOOLS_DCFG_GRAPH_IRREDUCIBLE_H

#include "tools/dcfg/graph/graph_profile.h"

struct irreducible_loop {
    uint32_t parent;  /* index in process->loops: the smallest one around it;
                         DCFG_NONE: none */
    uint32_t routine; /* index in process->routines; DCFG_NONE: none */
    uint32_t head;    /* the block among the entries that was executed most often */
    uint32_t first_block, block_count; /* in blocks: all, those of inner loops too */
    uint32_t first_entry, entry_count; /* in entries */
    uint64_t entered;                  /* times, from outside, through any entry */
    uint32_t back_edges;               /* edges from within to the head */
};

struct irreducible_loops {
    struct irreducible_loop *loops; /* sorted by their first blocks */
    uint32_t count;
    uint32_t *blocks;
    uint32_t *entries;
    uint32_t *around; /* by natural loop: the irreducible one that it is a node of; DCFG_NONE */
};

/* Finds them in nearly linear time. 0 or BT_MEMORY; free with irreducible_clear. */
int irreducible_find(struct irreducible_loops *found, const struct graph_profile *profile,
                     struct bt_error *error);
void irreducible_clear(struct irreducible_loops *found);

#endif
