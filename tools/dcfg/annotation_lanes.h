/* Lanes of the jumps of an annotation, and arrows drawn with characters. */
#ifndef TOOLS_DCFG_ANNOTATION_LANES_H
#define TOOLS_DCFG_ANNOTATION_LANES_H

#include "tools/dcfg/annotation.h"

/* Assigns the lanes of the jumps, short jumps next to the code, and sorts the jumps by source. 0 or
 * BT_MEMORY. */
int annotation_assign_lanes(struct annotation *annotation);

/* The number of characters of a row's arrows; 0: there are none. */
uint32_t annotation_arrow_width(const struct annotation *annotation);

/* Draws the arrows: cells becomes row_count times annotation_arrow_width() cells, each a set of
 * directions in which it has a line. */
enum arrow { ARROW_UP = 1, ARROW_DOWN = 2, ARROW_LEFT = 4, ARROW_RIGHT = 8, ARROW_HEAD = 16 };
void annotation_draw_arrows(const struct annotation *annotation, uint8_t *cells);

/* The character of a cell. */
char annotation_arrow(uint8_t cell);

#endif
