/*
 * Look-up of the innermost span that covers an address. Spans may be nested, in any order. A sweep
 * over their starts cuts them into disjoint pieces, each of which belongs to the span that begins
 * last; the look-up is a binary search.
 */
#ifndef TOOLS_DCFG_GRAPH_PIECES_H
#define TOOLS_DCFG_GRAPH_PIECES_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stdint.h>

struct NAMED_FIELDS span {
    uint64_t start,
        end; /* end is exclusive; equal to start: extends to the next span that begins elsewhere */
    uint32_t row; /* the caller's number */
};

struct piece;

struct pieces {
    struct piece *pieces;
    uint32_t count;
};

/* Cuts the spans, and reorders them. 0 or BT_MEMORY; free with pieces_clear. */
int pieces_make(struct pieces *pieces, struct span *spans, uint32_t count);
void pieces_clear(struct pieces *pieces);

/* The row of the span that covers an address; returns false if there is none. *end becomes the
 * start of the next piece in both cases. */
bool pieces_find(const struct pieces *pieces, uint64_t address, uint32_t *row, uint64_t *end);

#endif
