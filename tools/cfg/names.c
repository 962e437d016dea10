/*
 * Symbols and lines are spans of an image's offsets that may lie in each other, in any order in the
 * file. A sweep over their starts cuts them into pieces that do not, each named by the span that
 * begins last there; so what covers an offset is one binary search.
 */
#include "tools/cfg/names.h"

#include <stdlib.h>

#define NOTHING UINT32_MAX

struct span {
    uint64_t start, end; /* offsets; end is behind it */
    uint32_t row;        /* in the process's array */
};

/* From start to the next piece's. */
struct piece {
    uint64_t start;
    uint32_t row; /* NOTHING: there is none */
};

struct pieces {
    struct piece *pieces;
    uint32_t count;
};

struct names {
    const struct dcfg_process *process;
    struct pieces *symbols; /* by image */
    struct pieces *lines;
};

static int compare_spans(const void *left, const void *right)
{
    const struct span *a = left;
    const struct span *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    bool open = a->end == a->start;
    if (open != (b->end == b->start))
        return open ? -1 : 1; /* what has a size is better told */
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1; /* the inner one behind the outer one */
    return a->row > b->row ? -1 : 1;     /* of two names for one thing, the first in the file */
}

/* Those without a size reach to the next that begins elsewhere. */
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

/* Cuts sorted spans into pieces, of which there is room for twice as many. open has room for the
 * spans' numbers. */
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
                pieces[made++] = (struct piece){at, top->row};
                at = top->end;
            }
            if (top->end <= next)
                depth--;
        }
        if (at < next)
            pieces[made++] = (struct piece){at, NOTHING};
    }
    return made;
}

static int make_pieces(struct pieces *pieces, struct span *spans, uint32_t count)
{
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

static struct span span_of(uint64_t start, uint64_t size, uint32_t row)
{
    return (struct span){start, start + size < start ? UINT64_MAX : start + size, row};
}

static int cut_image(struct names *names, uint32_t number, struct span *spans)
{
    const struct dcfg_process *process = names->process;
    const struct dcfg_image *image = &process->images[number];
    for (uint32_t i = 0; i < image->symbols.count; i++) {
        uint32_t row = image->symbols.first + i;
        spans[i] = span_of(process->symbols[row].offset, process->symbols[row].size, row);
    }
    int result = make_pieces(&names->symbols[number], spans, image->symbols.count);
    for (uint32_t i = 0; i < image->lines.count; i++) {
        uint32_t row = image->lines.first + i;
        spans[i] = span_of(process->lines[row].offset, process->lines[row].size, row);
    }
    return result < 0 ? result : make_pieces(&names->lines[number], spans, image->lines.count);
}

static int fill(struct names *names)
{
    const struct dcfg_process *process = names->process;
    uint32_t most =
        process->symbol_count > process->line_count ? process->symbol_count : process->line_count;
    struct span *spans = malloc(((size_t)most + 1) * sizeof *spans);
    names->symbols = calloc((size_t)process->image_count + 1, sizeof *names->symbols);
    names->lines = calloc((size_t)process->image_count + 1, sizeof *names->lines);
    int result = spans && names->symbols && names->lines ? 0 : BT_MEMORY;
    for (uint32_t i = 0; i < process->image_count && result == 0; i++)
        result = cut_image(names, i, spans);
    free(spans);
    return result;
}

struct names *names_new(const struct dcfg_process *process, struct bt_error *error)
{
    struct names *names = calloc(1, sizeof *names);
    if (names) {
        names->process = process;
        if (fill(names) == 0)
            return names;
    }
    names_free(names);
    bt_fail(error, BT_MEMORY, "no memory for the names of %u symbols and %u lines",
            process->symbol_count, process->line_count);
    return NULL;
}

void names_free(struct names *names)
{
    if (!names)
        return;
    for (uint32_t i = 0; names->symbols && names->lines && i < names->process->image_count; i++) {
        free(names->symbols[i].pieces);
        free(names->lines[i].pieces);
    }
    free(names->symbols);
    free(names->lines);
    free(names);
}

/* The piece that holds the offset; *end gets where the next one begins. */
static const struct piece *find(const struct pieces *pieces, uint64_t offset, uint64_t *end)
{
    uint32_t low = 0;
    uint32_t high = pieces->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (pieces->pieces[middle].start <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    *end = low < pieces->count ? pieces->pieces[low].start : UINT64_MAX;
    const struct piece *piece = low > 0 ? &pieces->pieces[low - 1] : NULL;
    return piece && piece->row != NOTHING ? piece : NULL;
}

void names_at(const struct names *names, uint32_t image, uint64_t offset, struct names_place *place)
{
    const struct dcfg_process *process = names->process;
    const struct dcfg *graph = process->graph;
    const struct dcfg_image *in = &process->images[image];
    *place = (struct names_place){.image = dcfg_file_name(graph, in->file_name_id),
                                  .image_offset = offset,
                                  .address = in->load_address + offset,
                                  .file_number = DCFG_NONE};
    uint64_t symbol_end;
    const struct piece *symbol = find(&names->symbols[image], offset, &symbol_end);
    if (symbol) {
        place->symbol = dcfg_text(graph, process->symbols[symbol->row].name);
        place->symbol_offset = offset - process->symbols[symbol->row].offset;
    }
    const struct piece *line = find(&names->lines[image], offset, &place->line_end);
    if (line) {
        const struct dcfg_line *row = &process->lines[line->row];
        place->file = dcfg_file_name(graph, row->file_name_id);
        place->file_number = id_index_find(&graph->file_name_index, row->file_name_id);
        place->line = row->line;
    }
}

void names_of_block(const struct names *names, uint32_t block, struct names_place *place)
{
    uint32_t image = dcfg_image_of_block(names->process, block);
    names_at(names, image, names->process->blocks[block].offset, place);
}

void names_of_routine(const struct names *names, uint32_t routine, struct names_place *place)
{
    names_of_block(names, dcfg_find_block(names->process, names->process->routines[routine].entry),
                   place);
}
