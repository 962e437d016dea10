#include "tools/dcfg/annotation.h"

#include "formats/base/grow.h"
#include "formats/base/printable.h"
#include "formats/base/saturating.h"
#include "tools/dcfg/annotation_lanes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int annotation_make(struct annotation *annotation, const struct annotate_graph *graph,
                    enum disassemble_syntax syntax, bool cold, struct bt_error *error)
{
    size_t blocks = (size_t)graph->view->process->block_count + 1;
    *annotation = (struct annotation){.graph = graph, .cold = cold};
    annotation->first_row = calloc(blocks, sizeof *annotation->first_row);
    annotation->codeless =
        calloc((size_t)graph->view->process->image_count + 1, sizeof *annotation->codeless);
    if (!annotation->first_row || !annotation->codeless)
        return bt_fail(error, BT_MEMORY, "no memory for rows");
    annotation->disassembler = disassembler_new(syntax, error);
    return annotation->disassembler ? 0 : error->code;
}

void annotation_clear(struct annotation *annotation)
{
    disassembler_free(annotation->disassembler);
    free(annotation->rows);
    free(annotation->jumps);
    free(annotation->texts);
    free(annotation->first_row);
    free(annotation->codeless);
    *annotation = (struct annotation){.graph = NULL};
}

/* --- rows ------------------------------------------------------------------------------------ */

/* The function being annotated, from block to block. */
struct annotating {
    struct annotation *annotation;
    const struct dcfg_process *process;
    struct code_location location; /* of the last row, valid up to its line_end */
    bool located;
    uint32_t image;
    uint64_t at;     /* offset in the image of what comes next */
    uint64_t symbol; /* offset of the function's symbol */
    bool named;      /* it has a symbol */
};

/* A new row of size bytes at the place reached; NULL: no memory. */
static struct annotation_row *add_row(struct annotating *on, enum annotation_kind kind,
                                      uint64_t size)
{
    struct annotation *to = on->annotation;
    struct annotation_row *rows =
        grow_array(to->rows, &to->row_capacity, (size_t)to->row_count + 1, sizeof *rows);
    if (!rows)
        return NULL;
    to->rows = rows;
    if (!on->located || on->at < on->location.image_offset || on->at >= on->location.line_end)
        names_at(to->graph->view->names, on->image, on->at, &on->location);
    on->located = true;
    struct annotation_row *row = &rows[to->row_count++];
    *row = (struct annotation_row){.address = on->process->images[on->image].load_address + on->at,
                                   .size = size,
                                   .block = DCFG_NONE,
                                   .image = on->image,
                                   .kind = (uint8_t)kind,
                                   .file = kind == ANNOTATION_GAP ? DCFG_NONE
                                                                  : on->location.file_number,
                                   .line = on->location.line};
    row->new_line = row->file != DCFG_NONE &&
                    (to->row_count == 1 || row[-1].file != row->file || row[-1].line != row->line);
    on->at += size;
    return row;
}

/* Room for the text of one more instruction; NULL: no memory. */
static char *text_room(struct annotation *to)
{
    char *texts =
        grow_array(to->texts, &to->text_capacity, to->text_size + DISASSEMBLE_BYTES + 1, 1);
    if (!texts)
        return NULL;
    to->texts = texts;
    return texts + to->text_size;
}

/* Adds a row with the instruction at the place reached, if it ends at `end` at the latest. 1, 0: no
 * such instruction, or BT_MEMORY. */
static int add_instruction(struct annotating *on, enum annotation_kind kind, uint64_t end)
{
    struct annotation *to = on->annotation;
    struct image_instruction instruction;
    size_t size;
    unsigned bits;
    const uint8_t *code = graph_code_at(to->graph->code, on->image, on->at, &size, &bits);
    if (!code)
        return 0;
    char *text = text_room(to);
    if (!text)
        return BT_MEMORY;
    uint64_t address = on->process->images[on->image].load_address + on->at;
    size_t length = disassemble(to->disassembler, bits, code, size, address, &instruction, text);
    if (length == 0 || instruction.size > end - on->at)
        return 0;
    struct annotation_row *row = add_row(on, kind, instruction.size);
    if (!row)
        return BT_MEMORY;
    row->text = (uint32_t)to->text_size;
    row->text_size = (uint8_t)length;
    row->target = instruction.target;
    row->branch = instruction.branch;
    to->text_size += length + 1;
    return 1;
}

/* --- blocks ---------------------------------------------------------------------------------- */

/* Edges on which control did not continue at the next address. */
static bool leads_away(enum dcfg_edge_type type)
{
    return type != DCFG_EDGE_FALL_THROUGH && !dcfg_edge_type_is_bypass(type);
}

static uint64_t count_taken(const struct annotate_graph *graph, uint32_t block)
{
    const struct dcfg_process *process = graph->view->process;
    uint64_t taken = 0;
    for (uint32_t i = graph->first_edge[block]; i < graph->first_edge[block + 1]; i++)
        if (leads_away(process->edges.types[graph->edges[i]]) &&
            process->edges.types[graph->edges[i]] != DCFG_EDGE_UNKNOWN) /* a hole of the capture */
            taken = saturating_add(taken, dcfg_edge_total(process, graph->edges[i]));
    return taken;
}

/* Adds the instructions of a block at the place reached. 1; 0: they are not those that the graph
 * has, and none is added; or BT_MEMORY. */
static int add_instructions(struct annotating *on, const struct dcfg_block *block)
{
    struct annotation *to = on->annotation;
    const uint32_t rows = to->row_count;
    const size_t text_size = to->text_size;
    const uint64_t end = block->offset + block->size;
    uint64_t last = block->offset;
    int result = 1;
    while (on->at < end && result > 0) {
        last = on->at;
        result = add_instruction(on, ANNOTATION_INSTRUCTION, end);
    }
    if (result < 0)
        return result;
    if (result > 0 && to->row_count - rows == block->instructions &&
        last - block->offset == block->last_instruction)
        return 1;
    to->row_count = rows;
    to->text_size = text_size;
    on->at = block->offset;
    return 0;
}

static int add_block(struct annotating *on, uint32_t number)
{
    struct annotation *to = on->annotation;
    const struct graph_profile *profile = &to->graph->view->profile;
    const struct dcfg_block *block = &on->process->blocks[number];
    const uint32_t first = to->row_count;
    int result = add_instructions(on, block);
    if (result < 0)
        return result;
    if (result == 0) {
        size_t size;
        unsigned bits;
        if (graph_code_at(to->graph->code, on->image, on->at, &size, &bits))
            to->differing++;
        else
            to->codeless[on->image] = true;
        if (!add_row(on, ANNOTATION_BLOCK, block->size))
            return BT_MEMORY;
    }
    to->first_row[number] = first;
    for (uint32_t i = first; i < to->row_count; i++) {
        struct annotation_row *row = &to->rows[i];
        row->block = number;
        row->executions = profile->executions[number];
        row->instructions = result > 0 ? row->executions : profile->instructions[number];
        to->instructions = saturating_add(to->instructions, row->instructions);
    }
    to->rows[first].begins = true;
    to->rows[to->row_count - 1].ends = true;
    to->rows[to->row_count - 1].taken = count_taken(to->graph, number);
    return 0;
}

/* --- what was not executed ------------------------------------------------------------------- */

/* Whether an offset in the image belongs to the function, as far as symbols tell. */
static bool is_inside(const struct annotating *on, uint64_t offset)
{
    struct code_location location;
    names_at(on->annotation->graph->view->names, on->image, offset, &location);
    return on->named ? location.symbol && offset - location.symbol_offset == on->symbol
                     : !location.symbol;
}

/* Adds the instructions from the place reached up to `end`, as far as they are the function's. */
static int add_cold(struct annotating *on, uint64_t end)
{
    int result = 1;
    while (on->at < end && is_inside(on, on->at) && result > 0)
        result = add_instruction(on, ANNOTATION_COLD, end);
    return result < 0 ? result : 0;
}

static int add_gap(struct annotating *on, uint64_t end)
{
    int result = 0;
    const bool inside = is_inside(on, on->at) && is_inside(on, end - 1);
    if (inside && on->annotation->cold)
        result = add_cold(on, end);
    if (result == 0 && on->at < end)
        result = add_row(on, ANNOTATION_GAP, inside ? end - on->at : 0) ? 0 : BT_MEMORY;
    on->at = end;
    return result;
}

/* Goes to the start of a block, over what was not executed. */
static int go_to(struct annotating *on, uint32_t number, bool first)
{
    const uint32_t image = dcfg_image_of_block(on->process, number);
    const uint64_t offset = on->process->blocks[number].offset;
    int result = 0;
    if (first || image != on->image) {
        on->located = false;
        on->image = image;
        on->at =
            first && on->named && on->annotation->cold && on->symbol < offset ? on->symbol : offset;
        if (!first)
            result = add_row(on, ANNOTATION_GAP, 0) ? 0 : BT_MEMORY;
    }
    if (result == 0 && offset > on->at)
        result = add_gap(on, offset);
    on->at = offset; /* blocks may overlap */
    return result;
}

/* --- jumps ----------------------------------------------------------------------------------- */

static int add_jump(struct annotation *to, uint32_t from, uint32_t edge, uint32_t target)
{
    struct annotation_jump *jumps =
        grow_array(to->jumps, &to->jump_capacity, (size_t)to->jump_count + 1, sizeof *jumps);
    if (!jumps)
        return BT_MEMORY;
    to->jumps = jumps;
    jumps[to->jump_count++] =
        (struct annotation_jump){.count = dcfg_edge_total(to->graph->view->process, edge),
                                 .from = from,
                                 .to = to->first_row[target],
                                 .edge = edge,
                                 .lane = ANNOTATION_LANES};
    return 0;
}

static int add_jumps(struct annotation *to, uint32_t row)
{
    const struct annotate_graph *graph = to->graph;
    const struct dcfg_process *process = graph->view->process;
    const uint32_t block = to->rows[row].block;
    int result = 0;
    for (uint32_t i = graph->first_edge[block]; i < graph->first_edge[block + 1] && result == 0;
         i++) {
        const uint32_t edge = graph->edges[i];
        const uint32_t target = dcfg_find_block(process, process->edges.targets[edge]);
        if (dcfg_edge_type_is_branch(process->edges.types[edge]) && target != DCFG_NONE &&
            graph->calls.function_of[target] == to->function)
            result = add_jump(to, row, edge, target);
    }
    return result;
}

int annotation_of(struct annotation *annotation, uint32_t function, struct bt_error *error)
{
    const struct annotate_graph *graph = annotation->graph;
    const struct call_graph *calls = &graph->calls;
    const uint32_t first = calls->first_block[function];
    struct annotating on = {.annotation = annotation, .process = graph->view->process};
    struct code_location entry;
    int result = 0;
    names_of_block(graph->view->names, calls->functions[function].entry, &entry);
    on.named = entry.symbol != NULL;
    on.symbol = entry.image_offset - entry.symbol_offset;
    annotation->function = function;
    annotation->row_count = annotation->jump_count = 0;
    annotation->instructions = annotation->text_size = 0;
    if (!text_room(annotation))
        return bt_fail(error, BT_MEMORY, "no memory for the text of instructions");
    annotation->texts[annotation->text_size++] = '\0';
    for (uint32_t i = first; i < calls->first_block[function + 1] && result == 0; i++) {
        result = go_to(&on, calls->blocks[i], i == first);
        if (result == 0)
            result = add_block(&on, calls->blocks[i]);
    }
    if (result == 0 && annotation->cold && on.named)
        result = add_cold(&on, UINT64_MAX);
    for (uint32_t row = 0; row < annotation->row_count && result == 0; row++)
        if (annotation->rows[row].ends)
            result = add_jumps(annotation, row);
    if (result == 0)
        result = annotation_assign_lanes(annotation);
    return result == 0 ? 0
                       : bt_fail(error, BT_MEMORY, "no memory for %" PRIu32 " instructions",
                                 annotation->row_count);
}

/* --- asking ---------------------------------------------------------------------------------- */

bool annotation_target(const struct annotation *annotation, const struct annotation_row *row,
                       struct code_location *location)
{
    const struct annotate_graph *graph = annotation->graph;
    const struct dcfg_image *image = &graph->view->process->images[row->image];
    struct code_location own;
    if (row->branch != IMAGE_CONDITIONAL && row->branch != IMAGE_JUMP && row->branch != IMAGE_CALL)
        return false;
    if (row->target - image->load_address >= image->size)
        return false;
    names_at(graph->view->names, row->image, row->target - image->load_address, location);
    names_at(graph->view->names, row->image, row->address - image->load_address, &own);
    return location->symbol && location->symbol != own.symbol;
}

static bool is_listed(const struct dcfg_process *process, const struct annotation_row *row,
                      uint32_t edge)
{
    const enum dcfg_edge_type type = process->edges.types[edge];
    const bool direct =
        row->branch == IMAGE_CONDITIONAL || row->branch == IMAGE_JUMP || row->branch == IMAGE_CALL;
    const bool own = direct && (dcfg_edge_type_is_branch(type) || dcfg_edge_type_is_call(type));
    const bool back = row->branch == IMAGE_RETURN && type == DCFG_EDGE_RETURN;
    const bool again = row->branch == IMAGE_REPEAT && type == DCFG_EDGE_REP;
    return leads_away(type) && !own && !back && !again;
}

uint32_t annotation_edges(const struct annotation *annotation, const struct annotation_row *row,
                          uint32_t *edges, uint32_t most, uint32_t *all)
{
    const struct annotate_graph *graph = annotation->graph;
    const struct dcfg_process *process = graph->view->process;
    uint32_t found = 0;
    *all = 0;
    if (!row->ends)
        return 0;
    for (uint32_t i = graph->first_edge[row->block]; i < graph->first_edge[row->block + 1]; i++) {
        const uint32_t edge = graph->edges[i];
        const uint64_t count = dcfg_edge_total(process, edge);
        if (!is_listed(process, row, edge) || count == 0)
            continue;
        ++*all;
        if (found == most && dcfg_edge_total(process, edges[most - 1]) >= count)
            continue;
        uint32_t at = found < most ? found++ : most - 1;
        for (; at > 0 && dcfg_edge_total(process, edges[at - 1]) < count; at--)
            edges[at] = edges[at - 1];
        edges[at] = edge;
    }
    return found;
}

void annotation_put_notes(const struct annotation *annotation, FILE *out)
{
    const struct annotate_graph *graph = annotation->graph;
    for (uint32_t i = 0; i < graph->view->process->image_count; i++) {
        const char *missing = graph_code_missing(graph->code, i);
        if (missing && annotation->codeless[i])
            fprintf(out, "bustap: %s: its blocks are shown without instructions\n",
                    PRINTABLE(missing));
    }
    if (annotation->differing > 0)
        fprintf(out,
                "bustap: the code of %" PRIu64 " block%s is not what was executed: was a program "
                "built again?\n",
                annotation->differing, annotation->differing == 1 ? "" : "s");
}
