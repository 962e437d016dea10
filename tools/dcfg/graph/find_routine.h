/* Finding a routine by what people call it. */
#ifndef TOOLS_DCFG_GRAPH_FIND_ROUTINE_H
#define TOOLS_DCFG_GRAPH_FIND_ROUTINE_H

#include "tools/dcfg/graph/names.h"

/*
 * The routine (a number in process->routines) whose entry is called name: its symbol, "symbol+0x20"
 * where it begins within one, or its address. A routine at the start of a symbol comes before those
 * within it. 0; or BT_USAGE, with what there is instead, where there is none or more than one.
 */
int find_routine(uint32_t *routine, const struct dcfg_process *process, const struct names *names,
                 const char *name, struct bt_error *error);

#endif
