/* Functions of two graphs with the same names, so that two builds of a program compare. */
#ifndef TOOLS_DCFG_GRAPH_MATCH_FUNCTIONS_H
#define TOOLS_DCFG_GRAPH_MATCH_FUNCTIONS_H

#include "tools/dcfg/graph/names.h"

/* A block's place in its function. */
struct function_place {
    uint32_t function; /* number in the union of both graphs' functions; DCFG_NONE: no symbol */
    uint64_t offset;   /* from the symbol's start, in bytes */
};

/*
 * Finds the place of each block of two processes. Functions match if their symbols and the numbers
 * of their images (images[side], by image) are equal; several ones of the same name match in the
 * order of their addresses. places[side] has an element for each block. 0 or BT_MEMORY.
 */
int match_functions(const struct dcfg_process *const processes[2],
                    const struct names *const names[2], uint32_t *const images[2],
                    struct function_place *const places[2]);

#endif
