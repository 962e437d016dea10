#include "tools/dcfg/graph/pieces.h"

#include "formats/base/error.h"

#include <stdlib.h>

#define NOTHING UINT32_MAX

/* A range from start to the start of the next piece. */
struct piece {
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
    return a->row > b->row
               ? -1
               : 1; /* of two names for the same range, the first one in the file wins */
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

/* Cuts sorted spans into pieces, at most twice as many. open has room for the spans' numbers. */
static uint32_t cut(struct piece *pieces, const struct span *spans, uint32_t count, uint32_t *open)
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
                pieces[made++] = (struct piece){.start = at, .row = top->row};
                at = top->end;
            }
            if (top->end <= next)
                depth--;
        }
        if (at < next)
            pieces[made++] = (struct piece){.start = at, .row = NOTHING};
    }
    return made;
}

int pieces_make(struct pieces *pieces, struct span *spans, uint32_t count)
{
    *pieces = (struct pieces){0};
    if (count == 0)
        return 0;
    uint32_t *open = malloc(count * sizeof *open);
    pieces->pieces = malloc(((size_t)count * 2 + 1) * sizeof *pieces->pieces);
    if (open && pieces->pieces) {
        qsort(spans, count, sizeof *spans, compare_spans);
        lengthen(spans, count);
        pieces->count = cut(pieces->pieces, spans, count, open);
    }
    free(open);
    return open && pieces->pieces ? 0 : BT_MEMORY;
}

void pieces_clear(struct pieces *pieces)
{
    free(pieces->pieces);
    *pieces = (struct pieces){0};
}

bool pieces_find(const struct pieces *pieces, uint64_t address, uint32_t *row, uint64_t *end)
{
    uint32_t low = 0;
    uint32_t high = pieces->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (pieces->pieces[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    *end = low < pieces->count ? pieces->pieces[low].start : UINT64_MAX;
    *row = low > 0 ? pieces->pieces[low - 1].row : NOTHING;
    return *row != NOTHING;
}
