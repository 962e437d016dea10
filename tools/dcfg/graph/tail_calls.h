/*
 * Tail calls: jumps from one function to the start of another, which is then a routine of its own
 * (DCFG 1.00, section 2.14: routines may be entered with edges other than calls). The stub of a
 * function that the loader chooses (IFUNC) jumps so, too.
 *
 * A file says where functions start: by symbols, and by the table for unwinding, which stripped
 * files keep. Compilers also give a symbol and a row of that table to a function's unlikely part.
 * Such a part jumps back into the middle of its function; a jump to it is no tail call.
 */
#ifndef TOOLS_DCFG_GRAPH_TAIL_CALLS_H
#define TOOLS_DCFG_GRAPH_TAIL_CALLS_H

#include "tools/dcfg/graph/flow.h"
#include "tools/dcfg/graph/routines.h"
#include "tools/symbols/image_names.h"

struct function_start {
    uint64_t address; /* in memory; 0: code before the image's first function */
    uint32_t image;   /* its number in routines_graph.images */
};

struct function_starts {
    struct function_start *rows; /* in order of images and addresses, each once */
    size_t count;
    size_t capacity;
};

/* Adds the functions of an image, whose number must exceed those of the images added before. 0 or
 * BT_MEMORY. */
int function_starts_add(struct function_starts *starts, uint32_t image,
                        const struct image_names *names);
/* The last function that starts at or before an address of an image, as the index of the next row.
 */
uint32_t function_starts_find(const struct function_starts *starts, uint32_t image,
                              uint64_t address);

void function_starts_clear(struct function_starts *starts);

/* Sets entered[node] for the blocks that tail calls reach; entered has a zeroed element for each
 * block of flow, whose nodes and images are those of graph. 0 or BT_MEMORY. */
int tail_calls_find(bool *entered, const struct function_starts *starts,
                    const struct routines_graph *graph, const struct flow_graph *flow);

#endif
