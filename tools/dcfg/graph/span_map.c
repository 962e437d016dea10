#include "tools/dcfg/graph/span_map.h"

#include "formats/base/error.h"

#include <stdlib.h>

#define NOTHING UINT32_MAX

/* Begins at start, ends at the start of the next range. */
struct span_range {
    uint64_t start;
    uint32_t row; /* NOTHING: not covered */
};

static int compare_spans(const void *left, const void *right)
{
    const struct span *a = left;
    const struct span *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    bool open = a->end == a->start;
    if (open != (b->end == b->start))
        return open ? -1 : 1; /* a span with a size takes precedence */
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1; /* inner spans after outer ones */
    return a->row > b->row ? -1 : 1;     /* of two names for the same range, the first row wins */
}

/* Extends spans without a size to the next span that begins elsewhere. */
static void lengthen(struct span *spans, uint32_t count)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t i = count; i-- > 0;) {
        if (i + 1 < count && spans[i + 1].start != spans[i].start)
            next = spans[i + 1].start;
        if (spans[i].end == spans[i].start)
            spans[i].end = next;
    }
}

/* Cuts sorted spans into ranges, at most twice as many. open has room for the spans' numbers. */
static uint32_t cut(struct span_range *ranges, const struct span *spans, uint32_t count,
                    uint32_t *open)
{
    uint32_t made = 0;
    uint32_t depth = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t next = i + 1 < count ? spans[i + 1].start : UINT64_MAX;
        uint64_t at = spans[i].start;
        open[depth++] = i;
        while (depth > 0 && at < next) {
            const struct span *top = &spans[open[depth - 1]];
            if (top->end > at) {
                ranges[made++] = (struct span_range){.start = at, .row = top->row};
                at = top->end;
            }
            if (top->end <= next)
                depth--;
        }
        if (at < next)
            ranges[made++] = (struct span_range){.start = at, .row = NOTHING};
    }
    return made;
}

int span_map_make(struct span_map *map, struct span *spans, uint32_t count)
{
    *map = (struct span_map){0};
    if (count == 0)
        return 0;
    uint32_t *open = malloc(count * sizeof *open);
    map->ranges = malloc(((size_t)count * 2 + 1) * sizeof *map->ranges);
    if (open && map->ranges) {
        qsort(spans, count, sizeof *spans, compare_spans);
        lengthen(spans, count);
        map->count = cut(map->ranges, spans, count, open);
    }
    free(open);
    return open && map->ranges ? 0 : BT_MEMORY;
}

void span_map_clear(struct span_map *map)
{
    free(map->ranges);
    *map = (struct span_map){0};
}

bool span_map_find(const struct span_map *map, uint64_t address, uint32_t *row, uint64_t *end)
{
    uint32_t low = 0;
    uint32_t high = map->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (map->ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    *end = low < map->count ? map->ranges[low].start : UINT64_MAX;
    *row = low > 0 ? map->ranges[low - 1].row : NOTHING;
    return *row != NOTHING;
}
