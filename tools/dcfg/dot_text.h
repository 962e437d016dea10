/* Text, labels and colours in Graphviz's language, for dot_graph.c. */
#ifndef TOOLS_DCFG_DOT_TEXT_H
#define TOOLS_DCFG_DOT_TEXT_H

#include "formats/dcfg/dcfg.h"

#include <stdio.h>

/* Prints text inside a quoted string: escapes quotes, backslashes and ampersands; '?' replaces
 * characters that cannot be shown. */
void dot_text(FILE *out, const char *text);

/* As dot_text, but omits the middle of a text longer than width characters. */
void dot_text_short(FILE *out, const char *text, size_t width);

/* The label of an edge type, such as "conditional". */
const char *dot_edge_word(enum dcfg_edge_type type);

/* Colour and style of an edge type, as attributes. */
const char *dot_edge_style(enum dcfg_edge_type type);

/* Prints the colour of a block by its share of the instructions: white to red. */
void dot_heat(FILE *out, double share);

#endif
