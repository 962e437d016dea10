/*
 * Look-up of the innermost span that covers an address. Spans may be nested, in any order. A sweep
 * over their starts cuts them into disjoint ranges, each of which belongs to the span that begins
 * last; the look-up is a binary search.
 */
#ifndef TOOLS_DCFG_GRAPH_SPAN_MAP_H
#define TOOLS_DCFG_GRAPH_SPAN_MAP_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stdint.h>

struct NAMED_FIELDS span {
    uint64_t start;
    uint64_t end; /* exclusive; equal to start: up to the next span that begins elsewhere */
    uint32_t row; /* the caller's number */
};

struct span_range;

struct span_map {
    struct span_range *ranges;
    uint32_t count;
};

/* Cuts the spans, and reorders them. 0 or BT_MEMORY; free with span_map_clear. */
int span_map_make(struct span_map *map, struct span *spans, uint32_t count);
void span_map_clear(struct span_map *map);

/* The row of the span that covers an address; returns false if there is none. *end becomes the
 * start of the next range in both cases. */
bool span_map_find(const struct span_map *map, uint64_t address, uint32_t *row, uint64_t *end);

#endif
