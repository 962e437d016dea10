#include "tools/dcfg/graph/names.h"

#include "tools/dcfg/graph/span_map.h"

#include <stdlib.h>

struct names {
    const struct dcfg_process *process;
    struct span_map *symbols; /* by image */
    struct span_map *lines;
};

static struct span span_of(uint64_t start, uint64_t size, uint32_t row)
{
    return (struct span){
        .start = start, .end = start + size < start ? UINT64_MAX : start + size, .row = row};
}

static int cut_image(struct names *names, uint32_t number, struct span *spans)
{
    const struct dcfg_process *process = names->process;
    const struct dcfg_image *image = &process->images[number];
    for (uint32_t i = 0; i < image->symbols.count; i++) {
        uint32_t row = image->symbols.first + i;
        spans[i] = span_of(process->symbols[row].offset, process->symbols[row].size, row);
    }
    int result = span_map_make(&names->symbols[number], spans, image->symbols.count);
    for (uint32_t i = 0; i < image->lines.count; i++) {
        uint32_t row = image->lines.first + i;
        spans[i] = span_of(process->lines[row].offset, process->lines[row].size, row);
    }
    return result < 0 ? result : span_map_make(&names->lines[number], spans, image->lines.count);
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
        span_map_clear(&names->symbols[i]);
        span_map_clear(&names->lines[i]);
    }
    free(names->symbols);
    free(names->lines);
    free(names);
}

void names_at(const struct names *names, uint32_t image, uint64_t offset,
              struct code_location *location)
{
    const struct dcfg_process *process = names->process;
    const struct dcfg *graph = process->graph;
    const struct dcfg_image *in = &process->images[image];
    *location = (struct code_location){.image = dcfg_file_name(graph, in->file_name_id),
                                       .image_offset = offset,
                                       .address = in->load_address + offset,
                                       .file_number = DCFG_NONE};
    uint64_t symbol_end;
    uint32_t found;
    if (span_map_find(&names->symbols[image], offset, &found, &symbol_end)) {
        location->symbol = dcfg_text(graph, process->symbols[found].name);
        location->symbol_offset = offset - process->symbols[found].offset;
    }
    if (span_map_find(&names->lines[image], offset, &found, &location->line_end)) {
        const struct dcfg_line *row = &process->lines[found];
        location->file = dcfg_file_name(graph, row->file_name_id);
        location->file_number = id_index_find(&graph->file_name_index, row->file_name_id);
        location->line = row->line;
    }
}

void names_of_block(const struct names *names, uint32_t block, struct code_location *location)
{
    uint32_t image = dcfg_image_of_block(names->process, block);
    names_at(names, image, names->process->blocks[block].offset, location);
}

void names_of_routine(const struct names *names, uint32_t routine, struct code_location *location)
{
    names_of_block(names, dcfg_find_block(names->process, names->process->routines[routine].entry),
                   location);
}
