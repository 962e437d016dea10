/* Finds a routine by name. */
#ifndef TOOLS_DCFG_GRAPH_FIND_ROUTINE_H
#define TOOLS_DCFG_GRAPH_FIND_ROUTINE_H

#include "tools/dcfg/graph/names.h"

/*
 * Finds the routine (an index of process->routines) whose entry has this name: its symbol,
 * "symbol+0x20" if it begins within one, or its address. A routine at the start of a symbol takes
 * precedence. 0; or BT_USAGE, with similar names, if no routine or several match.
 */
int find_routine(uint32_t *routine, const struct dcfg_process *process, const struct names *names,
                 const char *name, struct bt_error *error);

#endif
