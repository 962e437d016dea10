/* The targets of a jump through a table of addresses, or of distances from the table, as compilers
 * make them of a switch: the comparison before it gives their number. */
#ifndef TOOLS_DEPEND_JUMP_TABLE_H
#define TOOLS_DEPEND_JUMP_TABLE_H

#include "tools/depend/loop_flow.h"

#define JUMP_TABLE_MAX 1024u

/* Reads the table of the jump at the end of a node. Returns the number of targets, which may be
 * equal; 0: it is not known. */
unsigned jump_table_read(const struct code_walk *walk, uint32_t node, loop_flow_read *read,
                         void *context, uint64_t targets[JUMP_TABLE_MAX]);

#endif
