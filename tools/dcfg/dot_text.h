/* The words and colours of Graphviz's language, as dot_graph.c needs them. */
#ifndef TOOLS_DCFG_DOT_TEXT_H
#define TOOLS_DCFG_DOT_TEXT_H

#include "formats/dcfg/dcfg.h"

#include <stdio.h>

/* Prints text as a part of a quoted string: quotes, backslashes and ampersands stand for
 * themselves, what no picture can show becomes '?'. */
void dot_text(FILE *out, const char *text);

/* The same, without the middle of a text of more than width characters. */
void dot_text_short(FILE *out, const char *text, size_t width);

/* How an edge is labelled: "conditional". */
const char *dot_edge_word(enum dcfg_edge_type type);

/* Colour and style, as attributes. */
const char *dot_edge_style(enum dcfg_edge_type type);

/* Prints the colour of a block, by its share of the instructions: white to red. */
void dot_heat(FILE *out, double share);

#endif
