/* Annotations as comma separated values and JSON. */
#ifndef TOOLS_DCFG_ANNOTATE_TABLE_H
#define TOOLS_DCFG_ANNOTATE_TABLE_H

#include "tools/dcfg/annotation.h"

/* Prints the functions in graph->order to standard output: VIEW_CSV or VIEW_JSON. 0 or BT_MEMORY.
 */
int annotate_table_print(struct annotation *annotation, enum view_form form,
                         struct bt_error *error);

#endif
