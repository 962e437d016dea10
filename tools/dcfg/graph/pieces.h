/*
 * Spans of addresses that may lie in each other, in any order, and what covers an address. A sweep
 * over their starts cuts them into pieces that do not, each told by the span that begins last
 * there; so what covers an address is one binary search.
 */
#ifndef TOOLS_DCFG_GRAPH_PIECES_H
#define TOOLS_DCFG_GRAPH_PIECES_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stdint.h>

struct NAMED_FIELDS span {
    uint64_t start, end; /* end is behind it; start: it reaches to the next that begins elsewhere */
    uint32_t row;        /* the caller's number for it */
};

struct piece;

struct pieces {
    struct piece *pieces;
    uint32_t count;
};

/* Cuts spans, whose order changes. 0 or BT_MEMORY; free with pieces_clear. */
int pieces_make(struct pieces *pieces, struct span *spans, uint32_t count);
void pieces_clear(struct pieces *pieces);

/* The row of the span that covers an address; false: none does. *end is where the next piece
 * begins, if there is a row or not. */
bool pieces_find(const struct pieces *pieces, uint64_t address, uint32_t *row, uint64_t *end);

#endif
