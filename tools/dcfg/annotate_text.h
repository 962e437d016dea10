/* An annotation as text: a line for each instruction, with counts, arrows and source beside it. */
#ifndef TOOLS_DCFG_ANNOTATE_TEXT_H
#define TOOLS_DCFG_ANNOTATE_TEXT_H

#include "tools/dcfg/annotation.h"

#include <stdio.h>

struct annotate_text;

/* Prints to out; lines are cut after `width` columns, 0: never. NULL and *error without memory. */
struct annotate_text *annotate_text_new(FILE *out, size_t width, struct bt_error *error);
void annotate_text_free(struct annotate_text *text);

/* Prints the annotation of a function. 0 or BT_MEMORY. */
int annotate_text_put(struct annotate_text *text, const struct annotation *annotation,
                      struct bt_error *error);

#endif
