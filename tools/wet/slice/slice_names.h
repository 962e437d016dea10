/* Functions and variables as places in an execution. */
#ifndef TOOLS_WET_SLICE_SLICE_NAMES_H
#define TOOLS_WET_SLICE_SLICE_NAMES_H

#include "tools/wet/slice/slice_where.h"

/*
 * Finds what a name means: a function with executed code, of the program if it has one, else a
 * variable in the symbols of the program or of its libraries, whose files are read; an address
 * without executed code may be a name, too. Other places remain. 0, BT_MEMORY, or BT_USAGE: it is
 * unknown, or means several variables, or no executed instruction names the variable.
 */
int slice_names_resolve(struct slice_where *where, const struct wet_trace *trace,
                        struct bt_error *error);

/* Whether an instruction is of the function. */
bool slice_names_has(const struct wet_trace *trace, uint32_t id, const struct slice_where *where);

/* Whether an instruction writes (where->is_read: reads) the variable by an address in its code. */
bool slice_names_accesses(const struct wet_trace *trace, uint32_t id,
                          const struct slice_where *where);

#endif
